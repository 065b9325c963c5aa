import { Digest } from '@countersign/contracts';
import type { BoundaryRecord, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { WholeNumber } from './whole-number.ts';
import { sealedPayload, sealedRecord } from '../ledger/sealed-text.ts';

/** The columns from which a receipt is built. */
const ReceiptRow = z.object({
  log_index: WholeNumber,
  payload: z.string(),
  key_id: z.string(),
  signature: z.string(),
  receipt_hash: Digest,
});

/** The columns of a receipt, for queries through Prisma. */
export const receiptColumns = {
  log_index: true,
  payload: true,
  key_id: true,
  signature: true,
  receipt_hash: true,
} as const satisfies Record<keyof z.input<typeof ReceiptRow>, true>;

/** The same columns, for SQL. */
export const receiptColumnsSql = Sql.raw(Object.keys(receiptColumns).join(', '));

export function receiptOf(row: unknown): StoredReceipt {
  const { log_index, payload, key_id, signature, receipt_hash } = ReceiptRow.parse(row);
  return {
    payload: sealedPayload(payload),
    signature: { alg: 'Ed25519', key_id, value: signature },
    receipt_hash,
    log_index,
  };
}

export function receiptsOf(rows: unknown): StoredReceipt[] {
  return z.array(z.unknown()).parse(rows).map(receiptOf);
}

export function recordOf(text: string): BoundaryRecord {
  return sealedRecord(text);
}
