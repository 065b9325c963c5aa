/**
 * The greatest difference between the clock of a process and that of PostgreSQL, which all services share. A kernel
 * dates a receipt at most this much after its commit. Another kernel that has seen the commit dates a checkpoint at
 * most this much before its signing. No receipt is therefore more than 2 × 20 s later than a checkpoint that covers it.
 * The public verifier accepts 60 s. The remaining 20 s are for a database whose own clock steps, as after a failover.
 * Latency does not count. The signed time is compared with a reading of the database. That reading is later than the
 * date of a receipt, and earlier than the date of a checkpoint.
 */
export const clockSkewMaxMs = 20_000;

/**
 * A reading of the database's clock, with the process's clock before the reading was requested and after it arrived.
 */
export type ClockReading = { readonly beforeMs: number; readonly databaseMs: number; readonly afterMs: number };

/**
 * The certain difference of the process's clock from the database's: positive when ahead, negative when behind. A
 * database time between the two process times proves no difference, however long the reading took.
 */
export function sureSkewMs({ beforeMs, databaseMs, afterMs }: ClockReading): number {
  if (beforeMs > databaseMs) return beforeMs - databaseMs;
  return Math.min(0, afterMs - databaseMs);
}
