import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { TenantId } from '../scalars.ts';
import { BoundaryRecord } from './boundary-record.ts';
import { CheckpointNote, ExportedProof } from './chain-export.ts';
import { StoredReceipt } from './receipt.ts';

/** The place of a receipt in the log, as a checkpoint signed it before the key of the receipt was revoked. */
export const EarlyWitness = z.strictObject({ proof: ExportedProof, checkpoint: CheckpointNote });
export type EarlyWitness = z.infer<typeof EarlyWitness>;

/**
 * A receipt as it stands in the log; an outcome has no record of its own. `witness`: of a key that was revoked, where a checkpoint from
 * before has the receipt; without it such a receipt does not verify.
 */
export const LedgerEntry = z.strictObject({
  receipt: StoredReceipt,
  record: BoundaryRecord.nullable(),
  witness: EarlyWitness.nullable(),
});
export type LedgerEntry = z.infer<typeof LedgerEntry>;

/** A record may have megabytes, and a page is one answer. */
export const ledgerEntriesMax = 100;

export const listLedgerEntries = defineRoute({
  operation: 'list-ledger-entries',
  summary:
    'All receipts of a tenant below a place in the log, newest first, each with the record that it seals: what is below a place never changes. ' +
    'With `from`: those from that place on, oldest first.',
  method: 'GET',
  path: '/internal/receipts/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId }),
  query: z.strictObject({
    /** Exclusive. Absent: from the end. */
    below: z.coerce.number().int().min(0).optional(),
    /** Inclusive. */
    from: z.coerce.number().int().min(0).optional(),
    limit: z.coerce.number().int().min(1).max(ledgerEntriesMax).default(ledgerEntriesMax),
  }),
  reply: z.strictObject({ data: z.array(LedgerEntry) }),
});
