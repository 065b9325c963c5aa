/**
 * How far a kernel's clock may be from the database's, which all kernels share. What one kernel seals is dated at most this much after
 * its commit, and a checkpoint of another one, which has seen that commit, at most this much before its signing: so no receipt is more
 * than 2 × 20 s later than a checkpoint that has it. The public verifier takes 60 s. What is left is for a database whose own clock
 * steps, as after a fail-over. Latency is no part of the sum: what is signed is held against a reading that the database took later
 * than a receipt was dated, and earlier than a checkpoint is.
 */
export const clockSkewMaxMs = 20_000;

/** The database's clock as it was read, and the kernel's: before the reading was asked for, and when it was there. */
export type ClockReading = { readonly beforeMs: number; readonly databaseMs: number; readonly afterMs: number };

/**
 * How far the kernel's clock surely is from the database's: positive when ahead, negative when behind. At the reading it showed something
 * between the two instants, so a database's that lies between them tells of no difference, however long it took.
 */
export function sureSkewMs({ beforeMs, databaseMs, afterMs }: ClockReading): number {
  if (beforeMs > databaseMs) return beforeMs - databaseMs;
  return Math.min(0, afterMs - databaseMs);
}
