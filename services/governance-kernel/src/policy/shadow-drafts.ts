import { setTimeout as pause } from 'node:timers/promises';
import type { TenantId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { CompiledPolicy } from '@countersign/policy';
import type { Log } from '@countersign/service-kit';
import { compileText } from './compile.ts';
import type { LaneRow } from './shadow-lanes.ts';

/**
 * A lane in memory. It is suspended when it failed too often; another draft, or the same one set again, is another
 * lane.
 */
export type LoadedLane = {
  readonly row: LaneRow;
  /** Null while it is compiled. */
  policy: CompiledPolicy | null;
  failures: number;
};

type StoredLanes = { lanes: readonly LaneRow[]; drafts: Readonly<Record<string, string>> };

type Parts = {
  provider: CryptoProvider;
  load(tenant: TenantId): Promise<StoredLanes | null>;
  log: Log;
};

/** A draft that fails this often, one decision after the other, will not do better at the next. */
const failuresMax = 10;

/** The drafts of a few rules are there by then; of larger ones the first records say that they are not ready. */
const waitMsMax = 200;

const none: readonly LoadedLane[] = Object.freeze([]);

/** The drafts of the shadow lanes, compiled once. Which lanes there are, the database decides. */
export class ShadowDrafts {
  readonly #parts: Parts;
  readonly #loaded = new Map<string, readonly LoadedLane[]>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  current(tenant: string): readonly LoadedLane[] {
    return this.#loaded.get(tenant) ?? none;
  }

  /** Never throws, and waits for a moment only: a decision goes on without a draft. */
  async reload(tenant: TenantId): Promise<void> {
    try {
      const stored = await this.#parts.load(tenant);
      const compiling = this.#keep(tenant, stored);
      await Promise.race([Promise.all(compiling), pause(waitMsMax, undefined, { ref: false })]);
    } catch (error) {
      this.#parts.log.warn('shadow_lanes.not_read', { tenant_id: tenant, error });
    }
  }

  /** Whether it may be asked again. */
  isSuspended({ failures }: LoadedLane): boolean {
    return failures >= failuresMax;
  }

  noteFailure(tenant: TenantId, lane: LoadedLane): void {
    lane.failures += 1;
    if (lane.failures === failuresMax)
      this.#parts.log.warn('shadow_lane.suspended', { tenant_id: tenant, lane: lane.row.lane });
  }

  noteSuccess(lane: LoadedLane): void {
    lane.failures = 0;
  }

  #keep(tenant: TenantId, stored: StoredLanes | null): Promise<void>[] {
    if (stored === null || stored.lanes.length === 0) {
      this.#loaded.delete(tenant);
      return [];
    }
    const known = this.current(tenant);
    const compiling: Promise<void>[] = [];
    const lanes = stored.lanes.map((row) => {
      const standing = known.find((lane) => isSameLane(lane.row, row));
      if (standing !== undefined) return standing;
      const lane: LoadedLane = { row, policy: null, failures: 0 };
      compiling.push(this.#compile(lane, stored.drafts[row.lane] ?? ''));
      return lane;
    });
    this.#loaded.set(tenant, lanes);
    return compiling;
  }

  /** A draft whose hash is not that of the lane is never evaluated in its name. */
  async #compile(lane: LoadedLane, draft: string): Promise<void> {
    const policy = await compileText(this.#parts.provider, draft);
    if (policy.hash === lane.row.hash) lane.policy = policy;
  }
}

export function isSameLane(one: LaneRow, other: LaneRow): boolean {
  return one === other || (one.lane === other.lane && one.hash === other.hash && one.sinceMs === other.sinceMs);
}
