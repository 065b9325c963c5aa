const second = 1_000;
const hour = 3_600 * second;

/** Waits before the second and each further attempt: eight attempts over about 41 hours. */
const waitsMs = [5 * second, 60 * second, 600 * second, hour, 4 * hour, 12 * hour, 24 * hour];

/** A receiver is given up when its attempts have failed for this time, without a delivery in between. */
export const givenUpAfterMs = 5 * 24 * hour;

/**
 * The wait in milliseconds after this number of attempts. It is randomly up to a tenth longer, so that retries to a
 * recovered receiver are spread. `null` after the last attempt.
 */
export function waitMsAfter(attempts: number, random: () => number): number | null {
  const wait = waitsMs[attempts - 1];
  return wait === undefined ? null : Math.round(wait * (1 + random() / 10));
}
