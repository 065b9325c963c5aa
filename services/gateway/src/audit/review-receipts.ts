import { nodeProvider } from '@countersign/crypto/node';
import { VerificationError, verifyKeptReceipt, type TrustedKey, type TrustedKeys } from '@countersign/verifier';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import {
  listReceiptsAfterRevocation,
  recordReceiptFault,
  type KeptReceipt,
  type ReviewPlace,
} from '../store/receipt-faults.ts';

type Reviewing = Pick<Context, 'kernel' | 'transaction' | 'now' | 'log'>;

/** The most audit chains that one transaction locks. */
const batchMax = 100;

/** Longer than any gateway takes to commit a receipt after its arrival. */
const lateMaxMs = 600_000;

/** For each key, the time of its revocation, and the arrival time before which all its receipts were reviewed. */
export type Reviewed = Map<string, { revokedAt: string; before: Date }>;

/**
 * Reads which keys of the kernel were revoked, and verifies their receipts again. Receipts that the last pass in
 * `reviewed` covered are skipped. Every replica may run this at the same time. Throws KernelError while the kernel does
 * not publish its keys.
 */
export async function reviewReceipts(context: Reviewing, reviewed: Reviewed = new Map()): Promise<void> {
  if (context.kernel === null) return;
  const keys = await context.kernel.keyRing.refresh();
  for (const key of keys.filter(({ purpose }) => purpose === 'receipts'))
    await reviewKey(context, { keys, key, reviewed });
}

type OfKey = { keys: TrustedKeys; key: TrustedKey; reviewed: Reviewed };

async function reviewKey(context: Reviewing, { keys, key, reviewed }: OfKey): Promise<void> {
  const { key_id: keyId, revoked_at } = key;
  if (revoked_at === undefined) return;
  const revokedAt = new Date(revoked_at).toISOString();
  const last = reviewed.get(keyId);
  const from = last?.revokedAt === revokedAt ? last.before : new Date(0);
  const before = new Date(context.now().getTime() - lateMaxMs);
  let place: ReviewPlace | null = { receivedAt: from, workspaceId: '', decisionId: '' };
  while (place !== null) place = await reviewBatch(context, keys, { keyId, revokedAt, after: place });
  reviewed.set(keyId, { revokedAt, before });
}

type Batch = { keyId: string; revokedAt: string; after: ReviewPlace };

/** Resolves to the place where the next batch begins, or to `null` after the last one. */
async function reviewBatch(context: Reviewing, keys: TrustedKeys, batch: Batch): Promise<ReviewPlace | null> {
  return context.transaction(async (tx) => {
    const kept = await listReceiptsAfterRevocation(tx, { ...batch, limit: batchMax });
    const next = kept.length < batchMax ? null : (kept.at(-1) ?? null);
    // Chains are locked in one order, so that two gateways cannot block each other.
    kept.sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1));
    for (const one of kept) {
      const fault = faultOf(one, keys);
      if (fault !== null) await recordFailure(tx, context, { ...one, fault });
    }
    return next;
  });
}

type Failed = KeptReceipt & { fault: VerificationError['code'] };

async function recordFailure(tx: Tx, context: Reviewing, { receipt, fault, ...kept }: Failed): Promise<void> {
  const { workspaceId, decisionId } = kept;
  const now = context.now();
  if (!(await recordReceiptFault(tx, { workspaceId, decisionId, fault }, now))) return;
  context.log.warn('receipt.failed_later', { workspace_id: workspaceId, decision_id: decisionId, fault });
  const details = { fault, keyId: receipt.signature.key_id, receiptId: receipt.payload.receipt_id };
  const entry = { action: 'receipt.failed', actor: 'gateway', verdict: 'fail', reason: fault } as const;
  await recordAudit(tx, { ...entry, workspaceId, subject: decisionId, details }, now);
}

function faultOf({ receipt, receivedAt }: KeptReceipt, keys: TrustedKeys): VerificationError['code'] | null {
  try {
    verifyKeptReceipt({ receipt, keptSince: receivedAt.toISOString() }, keys, nodeProvider);
    return null;
  } catch (error) {
    if (error instanceof VerificationError) return error.code;
    throw error;
  }
}
