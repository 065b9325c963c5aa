import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { Tx } from './database.ts';

export type KeptReceipt = { workspaceId: string; decisionId: string; receipt: StoredReceipt; receivedAt: Date };

type Row = Omit<KeptReceipt, 'receipt'> & { document: unknown };

/** The receipt after which a review continues. */
export type ReviewPlace = Omit<KeptReceipt, 'receipt'>;

type Revocation = {
  keyId: string;
  revokedAt: string;
  /** The last reviewed receipt. Receipts up to this one are not read again, since there may be a million. */
  after: ReviewPlace;
  limit: number;
};

/**
 * A receipt may state an issue time that is this much later than its arrival, since the clocks of two hosts differ by
 * less.
 */
const clockSkewMs = 60_000;

/**
 * Receipts that count as verified although they arrived, or claim to be issued, after the time at which their key was
 * revoked.
 */
export async function listReceiptsAfterRevocation(
  tx: Tx,
  { keyId, revokedAt, after, limit }: Revocation,
): Promise<KeptReceipt[]> {
  const rows = await tx.$queryRaw<Row[]>`
    SELECT r.workspace_id AS "workspaceId", r.decision_id AS "decisionId", r.document, r.received_at AS "receivedAt"
      FROM receipts r
     WHERE r.document #>> '{signature,key_id}' = ${keyId}
       AND r.received_at >= ${revokedAt}::timestamptz - ${clockSkewMs}::float8 * interval '1 millisecond'
       AND r.received_at >= ${after.receivedAt}::timestamptz
       AND (r.received_at, r.workspace_id, r.decision_id) > (${after.receivedAt}::timestamptz, ${after.workspaceId}, ${after.decisionId})
       AND (r.received_at >= ${revokedAt}::timestamptz OR r.document #>> '{payload,issued_at}' >= ${revokedAt})
       AND NOT EXISTS (SELECT FROM receipt_faults f WHERE f.workspace_id = r.workspace_id AND f.decision_id = r.decision_id)
     ORDER BY r.received_at, r.workspace_id, r.decision_id LIMIT ${limit}`;
  return rows.map(({ document, ...row }) => ({ ...row, receipt: StoredReceipt.parse(document) }));
}

type NewFault = { workspaceId: string; decisionId: string; fault: string };

/** `false` when another gateway has recorded the fault. */
export async function recordReceiptFault(tx: Tx, data: NewFault, now: Date): Promise<boolean> {
  const { count } = await tx.receiptFault.createMany({ data: { ...data, foundAt: now }, skipDuplicates: true });
  return count === 1;
}
