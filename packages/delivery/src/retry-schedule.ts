const second = 1_000;
const hour = 3_600 * second;

/** Waits before the second and each further attempt: eight attempts over two days. */
const waitsMs = [5 * second, 60 * second, 600 * second, hour, 4 * hour, 12 * hour, 24 * hour];

/** A receiver that has taken nothing for this long is not tried any more. */
export const givenUpAfterMs = 5 * 24 * hour;

/** How long to wait after so many attempts, up to a tenth longer, so that receivers that come back are not met by all at once. Null: it was the last one. */
export function waitMsAfter(attempts: number, random: () => number): number | null {
  const wait = waitsMs[attempts - 1];
  return wait === undefined ? null : Math.round(wait * (1 + random() / 10));
}
