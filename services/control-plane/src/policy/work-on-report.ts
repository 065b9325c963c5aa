import { setImmediate as nextTurn } from 'node:timers/promises';
import type { WhatIfReport } from '@countersign/contracts/control-plane';
import {
  listLedgerEntries,
  listTrustKeys,
  PolicyBundle,
  type LedgerEntry,
} from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import type { CompiledPolicy } from '@countersign/policy';
import { parseKeySet } from '@countersign/verifier';
import { WhatIf } from '@countersign/what-if';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import type { ClaimedJob } from '../store/what-if-jobs.ts';
import { ceilingTexts, compileAgain } from './compile-draft.ts';
import { getInForce } from './in-force.ts';
import { findRecordedPolicy } from './recorded-policy.ts';
import { tenantOf } from './tenant-of.ts';

type Parts = Pick<Context, 'kernel'>;
/** False: somebody else has taken the job over. */
type NoteProgress = (progress: { decisions: number; treeSize: number }) => Promise<boolean>;

/** So many entries are verified and decided before others have their turn: about ten milliseconds. */
const entriesPerTurn = 10;
/** Kernels have clocks of their own: an entry that stands before another may be a little later. */
const clockSkewMs = 3_600_000;

/** Reads what the kernel has sealed, newest first, a page in memory at a time. Null: somebody else has taken the job over. */
export async function workOnReport(parts: Parts, job: ClaimedJob, note: NoteProgress): Promise<WhatIfReport | null> {
  const tenant = tenantOf(job.workspaceId);
  const asked = parts.kernel.own({ listLedgerEntries, listTrustKeys });
  const { body: keys } = await asked.listTrustKeys();
  const draft = await compileAgain(PolicyBundle.parse(JSON.parse(job.bundle)));
  const policies = new RecordedPolicies(parts, job);
  let pinned = job.treeSize;
  let below = pinned ?? undefined;
  let whatIf: WhatIf | null = null;
  for (;;) {
    const { data } = await answerOf('kernel', () =>
      asked.listLedgerEntries({ params: { tenant }, query: below === undefined ? {} : { below } }),
    );
    const treeSize = pinned ?? (data[0]?.receipt.log_index ?? -1) + 1;
    pinned = treeSize;
    whatIf ??= new WhatIf({
      question: {
        ...{ tenant_id: tenant, policy_hash: job.policyHash, tree_size: treeSize },
        ...{ from: job.from, to: job.to, limit: job.decisionsMax },
      },
      ...{ draft, ceilings: ceilingTexts(await getInForce(parts, job.workspaceId)) },
      ...{ policyOf: policies.find, trust: parseKeySet(keys), provider: nodeProvider },
    });
    await policies.load(data);
    const wantsMore = await takeAll(whatIf, data);
    if (!(await note({ decisions: whatIf.decisions, treeSize }))) return null;
    if (!wantsMore) return whatIf.report({ isWhole: false });
    const last = data.at(-1);
    if (last === undefined || isBefore(last, job.from)) return whatIf.report({ isWhole: true });
    below = last.receipt.log_index;
  }
}

async function takeAll(whatIf: WhatIf, entries: readonly LedgerEntry[]): Promise<boolean> {
  for (const [nth, entry] of entries.entries()) {
    if (!whatIf.take(entry)) return false;
    if (nth % entriesPerTurn === 0) await nextTurn();
  }
  return true;
}

/** Nothing of the time that is asked about stands further back. */
function isBefore({ receipt }: LedgerEntry, from: string | null): boolean {
  return from !== null && Date.parse(receipt.payload.issued_at) < Date.parse(from) - clockSkewMs;
}

/** The policies that decisions were made under, each fetched once and held against its hash. */
class RecordedPolicies {
  readonly #parts: Parts;
  readonly #job: ClaimedJob;
  readonly #known = new Map<string, CompiledPolicy | null>();

  constructor(parts: Parts, job: ClaimedJob) {
    this.#parts = parts;
    this.#job = job;
  }

  readonly find = (hash: string): CompiledPolicy | null => this.#known.get(hash) ?? null;

  async load(entries: readonly LedgerEntry[]): Promise<void> {
    for (const { record } of entries) {
      const hash = record?.policy_hash ?? null;
      if (hash !== null && !this.#known.has(hash))
        this.#known.set(hash, await findRecordedPolicy(this.#parts, this.#job.workspaceId, hash));
    }
  }
}
