import { setImmediate as nextTurn } from 'node:timers/promises';
import { AppError, Instant, type Digest, type WorkspaceId } from '@countersign/contracts';
import { radiusReceiptsMax, type BlastRadius, type PlanStep } from '@countersign/contracts/control-plane';
import {
  getInclusionProof,
  listLedgerEntries,
  type LedgerEntry,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf, parsePlainJson } from '@countersign/crypto';
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

type Parts = Pick<Context, 'kernel' | 'keyRing' | 'radiusTurns'>;

const daysBack = 7;
const dayMs = 86_400_000;
/** Kernels have clocks of their own: an entry that stands before another may be a little later. */
const clockSkewMs = 3_600_000;
/** The entries that are verified before other work has its turn: about ten milliseconds. */
const entriesPerTurn = 10;

/**
 * Reads what the kernel has sealed below the newest checkpoint, newest first. Throws NOT_FOUND and INVALID_REQUEST for a target of another
 * workspace or of nothing, and GOVERNANCE_UNAVAILABLE, also where the kernel does not prove its log.
 */
export async function workOutRadius(
  parts: Parts,
  steps: readonly PlanStep[],
  caller: KeyedCaller,
): Promise<BlastRadius> {
  const { workspaceId } = caller;
  for (const { target } of steps) scopeOf(target, workspaceId);
  return await parts.radiusTurns.take(workspaceId, () => worked(parts, steps, caller));
}

async function worked(parts: Parts, steps: readonly PlanStep[], caller: KeyedCaller): Promise<BlastRadius> {
  const { workspaceId } = caller;
  const trust = await trustedKeys(parts);
  const newest = await findNewest(parts, workspaceId);
  const reach = new Reach(steps);
  const head = newest === null ? noLog : await proven(parts, { newest, trust, caller });
  const read = await readAll(parts, { workspaceId, head, reach, trust });
  const affected = reach.affected(await findSpent(parts, reach.usedApprovals, caller));
  const { relations, areMore } = await relationsOf(parts, workspaceId, affected.agents);
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
  return { ...radius, radius_hash: digestOf(nodeProvider, canonicalBytes(parsePlainJson(radius))) as Digest }; // digestOf writes exactly this form
}

type Head = Pick<BlastRadius, 'tree_size' | 'root_hash' | 'from'>;

const noLog: Head = { tree_size: 0, root_hash: null, from: null };

async function findNewest({ kernel }: Parts, workspaceId: WorkspaceId): Promise<StoredReceipt | null> {
  const asked = { params: { tenant: tenantOf(workspaceId) }, query: { limit: 1 } };
  const { data } = await answerOf('kernel', () => kernel.own({ listLedgerEntries }).listLedgerEntries(asked));
  return data[0]?.receipt ?? null;
}

type Newest = { newest: StoredReceipt; trust: TrustedKeys; caller: KeyedCaller };

/** The signed head of the log that holds the newest receipt. */
async function proven({ kernel }: Parts, { newest, trust, caller }: Newest): Promise<Head> {
  const { receipt_id, issued_at } = newest.payload;
  const asked = kernel.as(caller.assertion, { getInclusionProof });
  const { checkpoint, ...proof } = await answerOf('kernel', () => asked.getInclusionProof({ query: { receipt_id } }));
  try {
    verifyInclusion({ receipt: newest, proof, checkpoint: checkpoint.note, trust, provider: nodeProvider });
  } catch (cause) {
    if (!(cause instanceof VerificationError)) throw cause;
    throw new AppError('GOVERNANCE_UNAVAILABLE', 'The kernel does not prove what it has sealed', {
      details: { fault: cause.code },
      cause,
    });
  }
  const from = Instant.parse(new Date(Date.parse(issued_at) - daysBack * dayMs).toISOString());
  return { tree_size: checkpoint.tree_size, root_hash: checkpoint.root_hash, from };
}

type Reading = { workspaceId: WorkspaceId; head: Head; reach: Reach; trust: TrustedKeys };
type Read = Pick<BlastRadius, 'receipts' | 'is_whole' | 'unverifiable'>;

async function readAll({ kernel }: Parts, { workspaceId, head, reach, trust }: Reading): Promise<Read> {
  const asked = kernel.own({ listLedgerEntries });
  const params = { tenant: tenantOf(workspaceId) };
  const read = { receipts: 0, is_whole: true, unverifiable: 0 };
  let below = head.tree_size;
  while (below > 0) {
    const { data } = await answerOf('kernel', () => asked.listLedgerEntries({ params, query: { below } }));
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
