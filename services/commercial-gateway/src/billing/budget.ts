/** Percentages of a budget at which an alert is sent. */
const alertThresholds = [75, 90, 100] as const;

export type AlertThreshold = (typeof alertThresholds)[number];

/** Returns the thresholds that the amount has reached, lowest first. */
export function reachedThresholds(amountMinor: bigint, budgetMinor: bigint): AlertThreshold[] {
  return alertThresholds.filter((percent) => amountMinor * 100n >= budgetMinor * BigInt(percent));
}
