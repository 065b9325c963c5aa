import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WorkspaceId } from '@countersign/contracts';
import { listLedgerEntries, type LedgerEntry } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '@countersign/policy';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { findRecordedPolicy } from './recorded-policy.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

type Deps = Pick<Context, 'kernel'>;
type Job = { workspaceId: WorkspaceId; treeSize: number | null; from: string | null };
type Reading = { readonly decisions: number; take(entry: LedgerEntry): boolean };
type Begin<Read> = (pinned: { treeSize: number; policyOf: (hash: string) => CompiledPolicy | null }) => Promise<Read>;
/** `false` when another worker has taken over the job. */
export type NoteProgress = (progress: { decisions: number; treeSize: number }) => Promise<boolean>;

/** The number of entries that are verified and decided before other tasks run. They take about ten milliseconds. */
const entriesPerTurn = 10;
/** Clocks of kernels differ, so an entry may be slightly later than its successor. */
const clockSkewMs = 3_600_000;

/**
 * Reads the sealed entries of a workspace, newest first, one page in memory at a time, until the reader stops. Entries
 * below a place in the log never change, so a worker that takes over the job reads the same entries. `null` when
 * another worker has taken it over.
 */
export async function readLedger<Read extends Reading>(
  deps: Deps,
  job: Job,
  { begin, note }: { begin: Begin<Read>; note: NoteProgress },
): Promise<{ reading: Read; isWhole: boolean } | null> {
  const params = { tenant: tenantOf(job.workspaceId) };
  const client = deps.kernel.own({ listLedgerEntries });
  const policies = new RecordedPolicies(deps, job);
  let below = job.treeSize ?? undefined;
  let begun: { reading: Read; treeSize: number } | null = null;
  for (;;) {
    const query = below === undefined ? {} : { below };
    const { data } = await answerOf('kernel', () => client.listLedgerEntries({ params, query }));
    if (begun === null) {
      const treeSize = job.treeSize ?? (data[0]?.receipt.log_index ?? -1) + 1;
      begun = { treeSize, reading: await begin({ treeSize, policyOf: policies.find }) };
    }
    const { reading, treeSize } = begun;
    await policies.load(data);
    const wantsMore = await takeAll(reading, data);
    if (!(await note({ decisions: reading.decisions, treeSize }))) return null;
    if (!wantsMore) return { reading, isWhole: false };
    const last = data.at(-1);
    if (last === undefined || isBefore(last, job.from)) return { reading, isWhole: true };
    below = last.receipt.log_index;
  }
}

async function takeAll(reading: Reading, entries: readonly LedgerEntry[]): Promise<boolean> {
  for (const [nth, entry] of entries.entries()) {
    if (!reading.take(entry)) return false;
    if (nth % entriesPerTurn === 0) await nextTurn();
  }
  return true;
}

/** Whether this entry and all earlier ones lie before the requested period. */
function isBefore({ receipt }: LedgerEntry, from: string | null): boolean {
  return from !== null && Date.parse(receipt.payload.issued_at) < Date.parse(from) - clockSkewMs;
}

/** The policies of the decisions. Each is fetched once and compared with its hash. */
class RecordedPolicies {
  readonly #deps: Deps;
  readonly #job: Job;
  readonly #cache = new Map<string, CompiledPolicy | null>();

  constructor(deps: Deps, job: Job) {
    this.#deps = deps;
    this.#job = job;
  }

  readonly find = (hash: string): CompiledPolicy | null => this.#cache.get(hash) ?? null;

  async load(entries: readonly LedgerEntry[]): Promise<void> {
    for (const { record } of entries) {
      const hash = record?.policy_hash ?? null;
      if (hash !== null && !this.#cache.has(hash))
        this.#cache.set(hash, await findRecordedPolicy(this.#deps, this.#job.workspaceId, hash));
    }
  }
}
