import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { TenantId } from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';
import { CheckpointNote, ExportedProof } from './chain-export.ts';
import { StoredReceipt } from './receipt.ts';

/** A checkpoint with the receipt's position in the log, signed before the receipt's key was revoked. */
export const EarlyWitness = z.strictObject({ proof: ExportedProof, checkpoint: CheckpointNote });
export type EarlyWitness = z.infer<typeof EarlyWitness>;

/**
 * A receipt in the log. An outcome has no record of its own. For a revoked key, `witness` contains a checkpoint that
 * proves that the receipt is older than the revocation. Without it, such a receipt does not verify.
 */
export const LedgerEntry = z.strictObject({
  receipt: StoredReceipt,
  record: BoundaryRecord.nullable(),
  witness: EarlyWitness.nullable(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

/** The most entries of a page. Few, because a page is one answer and a record can be megabytes large. */
export const ledgerEntriesMax = 100;

export const listLedgerEntries = defineRoute({
  operation: 'list-ledger-entries',
  summary:
    'List the receipts of a tenant below a log position with their records, newest first. With `from`, lists ' +
    'those from that position, oldest first. Pages below a position never change.',
  method: 'GET',
  path: '/internal/receipts/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId }),
  query: z.strictObject({
    /** Only receipts below this position are listed. Default: the end of the log. */
    below: z.coerce.number().int().min(0).optional(),
    /** The first position to list. Receipts are then listed oldest first. */
    from: z.coerce.number().int().min(0).optional(),
    limit: z.coerce.number().int().min(1).max(ledgerEntriesMax).default(ledgerEntriesMax),
  }),
  reply: z.strictObject({ data: z.array(LedgerEntry) }),
});
