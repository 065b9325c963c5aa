import { z } from 'zod';
import { Digest, Instant, TenantId } from '../scalars.ts';
import { CheckpointNote, ExportedReceipt, LinkedCheckpoints, LogPath } from './chain-export.ts';

/** The first line of the export of a period. Its claims are proven only once the statement at the end repeats them. */
export const PeriodHeader = z.strictObject({
  format: z.literal('countersign/period-export.v1'),
  tenant_id: TenantId,
  /** Inclusive. */
  from: Instant,
  /** Exclusive. */
  to: Instant,
  ...LinkedCheckpoints.shape,
});
export type PeriodHeader = z.infer<typeof PeriodHeader>;

/** The last line: a receipt of the kind `period`, and the checkpoint of the tree that its proof leads to. */
export const ExportedPeriod = z.strictObject({
  period: ExportedReceipt,
  checkpoint: CheckpointNote,
  /** That the checkpoint extends the last one of the header. */
  consistency: LogPath,
});
export type ExportedPeriod = z.infer<typeof ExportedPeriod>;

/**
 * The facts in the record of a period statement. Among the first `log_size` receipts of the log, these and no others belong to the tenant and were issued in the period.
 */
export const PeriodStatement = z.strictObject({
  from: Instant,
  to: Instant,
  /** Whatever was sealed before this instant is within the log of that size. */
  as_of: Instant,
  sessions: z.int().min(0),
  receipts: z.int().min(0),
  /** Root (RFC 9162 §2.1.1) over the sessions as they stand in the export. */
  sessions_root: Digest,
  log_size: z.int().min(0),
  /** Root of the log of that size. */
  log_root: Digest,
});
export type PeriodStatement = z.infer<typeof PeriodStatement>;

/**
 * The receipts of one session in a period, as a leaf under `sessions_root`: the hash of the last receipt binds those
 * before it.
 */
export type PeriodSession = { session_id: string; first: number; last: number; receipt_hash: string };
