import { setImmediate as nextTurn } from 'node:timers/promises';
import { sha256Of, AppError, Instant, type WorkspaceId } from '@countersign/contracts';
import { radiusReceiptsMax, type BlastRadius, type PlanStep } from '@countersign/contracts/control-plane';
import {
  getInclusionProof,
  listLedgerEntries,
  type LedgerEntry,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, parsePlainJson } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import {
  VerificationError,
  verifyInclusion,
  verifyLedgerEntry,
  verifyRecord,
  type TrustedKeys,
} from '@countersign/verifier';
import type { Context } from '../context.ts';
import type { KeyedCaller } from '../guards.ts';
import { scopeOf } from '../ops/target.ts';
import { tenantOf } from '../siblings/tenant-of.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { trustedKeys } from '../trust/trusted-keys.ts';
import { findSpent } from './find-spent.ts';
import { Reach } from './reach.ts';
import { relationsOf } from './relations-of.ts';

type Deps = Pick<Context, 'kernel' | 'keyRing' | 'radiusTurns'>;

const daysBack = 7;
const dayMs = 86_400_000;
/** Clocks of kernels differ, so an entry may be slightly later than its successor. */
const clockSkewMs = 3_600_000;
/** The number of entries that are verified before other tasks run. They take about ten milliseconds. */
const entriesPerTurn = 10;

/**
 * Works out the reach of stops from the entries below a signed checkpoint, at most those of one week. Throws NOT_FOUND
 * for a target of another workspace and INVALID_REQUEST for one that matches no possible call. Throws
 * GOVERNANCE_UNAVAILABLE, also when the newest receipt is not proven to be in the log of the kernel.
 */
export async function workOutRadius(deps: Deps, steps: readonly PlanStep[], caller: KeyedCaller): Promise<BlastRadius> {
  const { workspaceId } = caller;
  for (const { target } of steps) scopeOf(target, workspaceId);
  return await deps.radiusTurns.take(workspaceId, () => worked(deps, steps, caller));
}

async function worked(deps: Deps, steps: readonly PlanStep[], caller: KeyedCaller): Promise<BlastRadius> {
  const { workspaceId } = caller;
  const trust = await trustedKeys(deps);
  const newest = await findNewest(deps, workspaceId);
  const reach = new Reach(steps);
  const head = newest === null ? noLog : await proven(deps, { newest, trust, caller });
  const read = await readAll(deps, { workspaceId, head, reach, trust });
  const affected = reach.affected(await findSpent(deps, reach.usedApprovals, caller));
  const { relations, areMore } = await relationsOf(deps, workspaceId, affected.agents);
  const radius = {
    type: 'countersign.blast-radius.v1' as const,
    tenant_id: tenantOf(workspaceId),
    steps: steps.map(({ kind, target }) => ({ kind, target })),
    ...head,
    ...read,
    affected: { ...affected, relations },
    more_relations: areMore,
    denials: reach.denials,
    reversibility: affected.approvals.length === 0 ? ('whole' as const) : ('partial' as const),
  };
  return { ...radius, radius_hash: sha256Of(nodeProvider, canonicalBytes(parsePlainJson(radius))) };
}

type Head = Pick<BlastRadius, 'tree_size' | 'root_hash' | 'from'>;

const noLog: Head = { tree_size: 0, root_hash: null, from: null };

async function findNewest({ kernel }: Deps, workspaceId: WorkspaceId): Promise<StoredReceipt | null> {
  const input = { params: { tenant: tenantOf(workspaceId) }, query: { limit: 1 } };
  const { data } = await answerOf('kernel', () => kernel.own({ listLedgerEntries }).listLedgerEntries(input));
  return data[0]?.receipt ?? null;
}

type Newest = { newest: StoredReceipt; trust: TrustedKeys; caller: KeyedCaller };

/** The signed head of the kernel's log, which is proven to contain the newest receipt. */
async function proven({ kernel }: Deps, { newest, trust, caller }: Newest): Promise<Head> {
  const { receipt_id, issued_at } = newest.payload;
  const client = kernel.as(caller.assertion, { getInclusionProof });
  const { checkpoint, ...proof } = await answerOf('kernel', () => client.getInclusionProof({ query: { receipt_id } }));
  try {
    verifyInclusion({ receipt: newest, proof, checkpoint: checkpoint.note, trust, provider: nodeProvider });
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The newest receipt of the kernel is not proven to be in its log', {
      details: { fault: cause.code },
      cause,
    });
  }
  const from = Instant.parse(new Date(Date.parse(issued_at) - daysBack * dayMs).toISOString());
  return { tree_size: checkpoint.tree_size, root_hash: checkpoint.root_hash, from };
}

type Reading = { workspaceId: WorkspaceId; head: Head; reach: Reach; trust: TrustedKeys };
type Read = Pick<BlastRadius, 'receipts' | 'is_whole' | 'unverifiable'>;

async function readAll({ kernel }: Deps, { workspaceId, head, reach, trust }: Reading): Promise<Read> {
  const client = kernel.own({ listLedgerEntries });
  const params = { tenant: tenantOf(workspaceId) };
  const read = { receipts: 0, is_whole: true, unverifiable: 0 };
  let below = head.tree_size;
  while (below > 0) {
    const { data } = await answerOf('kernel', () => client.listLedgerEntries({ params, query: { below } }));
    for (const [nth, entry] of data.entries()) {
      if (isBefore(entry, head.from)) return read;
      if (read.receipts === radiusReceiptsMax) return { ...read, is_whole: false };
      read.receipts += 1;
      if (!takeVerified(reach, entry, trust)) read.unverifiable += 1;
      if (nth % entriesPerTurn === 0) await nextTurn();
    }
    below = data.at(-1)?.receipt.log_index ?? 0;
  }
  return read;
}

function takeVerified(reach: Reach, { receipt, record, witness }: LedgerEntry, trust: TrustedKeys): boolean {
  try {
    const { payload } = verifyLedgerEntry({ receipt, witness }, trust, nodeProvider);
    reach.take({ payload, record: record === null ? null : verifyRecord(record, receipt, nodeProvider) });
    return true;
  } catch (error) {
    if (error instanceof VerificationError) return false;
    throw error;
  }
}

function isBefore({ receipt }: LedgerEntry, from: Head['from']): boolean {
  return from !== null && Date.parse(receipt.payload.issued_at) < Date.parse(from) - clockSkewMs;
}
