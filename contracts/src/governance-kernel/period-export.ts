import { z } from 'zod';
import { Digest, Instant, TenantId } from '../scalars.ts';
import { CheckpointNote, ExportedReceipt, LinkedCheckpoints, LogPath } from './chain-export.ts';

/**
 * The first line of the export of a period. Its claims are proven only by the statement at the end, which repeats them.
 */
export const PeriodHeader = z.strictObject({
  format: z.literal('countersign/period-export.v1'),
  tenant_id: TenantId,
  /** The start of the period, inclusive. */
  from: Instant,
  /** The end of the period, exclusive. */
  to: Instant,
  ...LinkedCheckpoints.shape,
});
export type PeriodHeader = z.infer<typeof PeriodHeader>;

/** The last line: a receipt of the kind `period`, and the checkpoint of the tree of its proof. */
export const ExportedPeriod = z.strictObject({
  period: ExportedReceipt,
  checkpoint: CheckpointNote,
  /** The proof that the checkpoint extends the last one of the header. */
  consistency: LogPath,
});
export type ExportedPeriod = z.infer<typeof ExportedPeriod>;

/**
 * The facts in the record of a period statement. It covers exactly the receipts of the tenant that were issued in the
 * period, among the first `log_size` receipts of the log.
 */
export const PeriodStatement = z.strictObject({
  from: Instant,
  to: Instant,
  /** All receipts that were sealed before this instant are among the first `log_size` receipts of the log. */
  as_of: Instant,
  sessions: z.int().min(0),
  receipts: z.int().min(0),
  /** Root (RFC 9162 §2.1.1) over the sessions in the order of the export. */
  sessions_root: Digest,
  log_size: z.int().min(0),
  /** Root of the log when it had `log_size` receipts. */
  log_root: Digest,
});
export type PeriodStatement = z.infer<typeof PeriodStatement>;

/**
 * The receipts of one session in a period, as a leaf under `sessions_root`. The hash of the last receipt binds the
 * earlier ones.
 */
export type PeriodSession = { session_id: string; first: number; last: number; receipt_hash: string };
