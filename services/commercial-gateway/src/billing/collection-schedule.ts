const dayMs = 86_400_000;

/** Days from each refused charge until the next one. The last charge is at the end of the grace period of 14 days. */
const retryDays = [1, 3, 5, 5] as const;

/**
 * Returns the time of the next charge after `attempts` refused charges. `null` after the last charge: then only a new
 * payment method starts the schedule again.
 */
export function nextChargeAt(attempts: number, now: Date): Date | null {
  const days = retryDays[attempts - 1];
  return days === undefined ? null : new Date(now.getTime() + days * dayMs);
}

const transferDays = 14;

/** Returns the due date of an invoice that is paid by transfer. */
export function transferDueAt(finalizedAt: Date): Date {
  return new Date(finalizedAt.getTime() + transferDays * dayMs);
}
