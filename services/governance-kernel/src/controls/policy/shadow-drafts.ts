import { setTimeout as pause } from 'node:timers/promises';
import type { TenantId } from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { CompiledPolicy } from '@countersign/policy';
import type { Log } from '@countersign/service-kit';
import { compileText } from './compile.ts';
import type { LaneRow } from './shadow-lanes.ts';

/**
 * A lane in memory. It is suspended after too many failures. Every new draft of the lane starts again without failures.
 */
export type LoadedLane = {
  readonly row: LaneRow;
  /** `null` until it is compiled, and for a damaged draft. */
  policy: CompiledPolicy | null;
  failures: number;
};

type StoredLanes = { lanes: readonly LaneRow[]; drafts: Readonly<Record<string, string>> };

type Deps = {
  provider: CryptoProvider;
  load(tenant: TenantId): Promise<StoredLanes | null>;
  log: Log;
};

/** A lane is suspended when its draft fails in this many consecutive decisions. */
const failuresMax = 10;

/** The wait for drafts to compile. While a larger draft compiles, records state that it is not ready. */
const waitMsMax = 200;

const none: readonly LoadedLane[] = Object.freeze([]);

/** The drafts of the shadow lanes, compiled once. The database decides which lanes exist. */
export class ShadowDrafts {
  readonly #deps: Deps;
  readonly #loaded = new Map<string, readonly LoadedLane[]>();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  current(tenant: string): readonly LoadedLane[] {
    return this.#loaded.get(tenant) ?? none;
  }

  /** Never throws, and waits only briefly, since decisions do not depend on drafts. */
  async reload(tenant: TenantId): Promise<void> {
    try {
      const stored = await this.#deps.load(tenant);
      const compiling = this.#keep(tenant, stored);
      await Promise.race([Promise.all(compiling), pause(waitMsMax, undefined, { ref: false })]);
    } catch (error) {
      this.#deps.log.warn('shadow_lanes.not_read', { tenant_id: tenant, error });
    }
  }

  /** Whether the lane was suspended after too many failures. */
  isSuspended({ failures }: LoadedLane): boolean {
    return failures >= failuresMax;
  }

  noteFailure(tenant: TenantId, lane: LoadedLane): void {
    lane.failures += 1;
    if (lane.failures === failuresMax)
      this.#deps.log.warn('shadow_lane.suspended', { tenant_id: tenant, lane: lane.row.lane });
  }

  noteSuccess(lane: LoadedLane): void {
    lane.failures = 0;
  }

  #keep(tenant: TenantId, stored: StoredLanes | null): Promise<void>[] {
    if (stored === null || stored.lanes.length === 0) {
      this.#loaded.delete(tenant);
      return [];
    }
    const existing = this.current(tenant);
    const compiling: Promise<void>[] = [];
    const lanes = stored.lanes.map((row) => {
      const current = existing.find((lane) => isSameLane(lane.row, row));
      if (current !== undefined) return current;
      const lane: LoadedLane = { row, policy: null, failures: 0 };
      compiling.push(this.#compile(lane, stored.drafts[row.lane] ?? ''));
      return lane;
    });
    this.#loaded.set(tenant, lanes);
    return compiling;
  }

  /** A draft whose hash differs from the hash of the lane is not evaluated. */
  async #compile(lane: LoadedLane, draft: string): Promise<void> {
    const policy = await compileText(this.#deps.provider, draft);
    if (policy.hash === lane.row.hash) lane.policy = policy;
  }
}

export function isSameLane(a: LaneRow, b: LaneRow): boolean {
  return a === b || (a.lane === b.lane && a.hash === b.hash && a.sinceMs === b.sinceMs);
}
