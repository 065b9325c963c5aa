export type Backoff = { baseMs: number; maxMs: number };

/**
 * The first attempts follow within seconds, for a restart of the broker or database. In a longer outage, two to four
 * attempts a minute follow.
 */
export const reconnectBackoff: Backoff = { baseMs: 200, maxMs: 30_000 };

/**
 * Doubles from `baseMs` to `maxMs`. The upper half is random, so that replicas do not retry at the same time. `attempt`
 * counts from 0.
 */
export function backoffMs({ attempt, baseMs, maxMs }: Backoff & { attempt: number }, random: () => number): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * (0.5 + random() / 2));
}
