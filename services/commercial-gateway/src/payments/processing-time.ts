const processingMs = 6 * 3_600_000;

/** A payment or refund that the provider decides later is read again then, in case its event is lost. */
export function readAgainAt(at: Date): Date {
  return new Date(at.getTime() + processingMs);
}
