const dayMs = 86_400_000;

/** Days from each refused charge until the next one. The last one is at the end of the grace period of 14 days. */
const retryDays = [1, 3, 5, 5] as const;

/** When an invoice is charged again after so many refused charges. `null` after the last one: a new payment method starts again. */
export function nextChargeAt(attempts: number, now: Date): Date | null {
  const days = retryDays[attempts - 1];
  return days === undefined ? null : new Date(now.getTime() + days * dayMs);
}

const transferDays = 14;

/** When an invoice that is paid by transfer is due. */
export function transferDueAt(finalizedAt: Date): Date {
  return new Date(finalizedAt.getTime() + transferDays * dayMs);
}
