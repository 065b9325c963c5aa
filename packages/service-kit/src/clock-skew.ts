/**
 * How far the clock of a process may be from that of PostgreSQL, which all services share. A kernel dates a receipt at
 * most this much after its commit. Another kernel that has seen the commit dates a checkpoint at most this much before
 * its signing. No receipt is therefore more than 2 × 20 s later than a checkpoint that has it. The public verifier
 * accepts 60 s. The rest is for a database whose own clock steps, as after a failover. Latency is no part of the sum.
 * The signed time is compared with a reading of the database that is later than the date of a receipt and earlier than
 * that of a checkpoint.
 */
export const clockSkewMaxMs = 20_000;

/** The database's clock as it was read, and that of the process: before the reading was requested, and when it arrived. */
export type ClockReading = { readonly beforeMs: number; readonly databaseMs: number; readonly afterMs: number };

/**
 * How far the clock of the process surely is from the database's: positive when ahead, negative when behind. At the reading it showed
 * something between the two instants, so a database's time between them proves no difference, however long the reading took.
 */
export function sureSkewMs({ beforeMs, databaseMs, afterMs }: ClockReading): number {
  if (beforeMs > databaseMs) return beforeMs - databaseMs;
  return Math.min(0, afterMs - databaseMs);
}
