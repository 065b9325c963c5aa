const processingMs = 6 * 3_600_000;

/** Returns when to read a pending payment or refund again, in case its event is lost. */
export function readAgainAt(at: Date): Date {
  return new Date(at.getTime() + processingMs);
}
