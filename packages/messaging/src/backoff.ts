export type Backoff = { baseMs: number; maxMs: number };

/** A broker or database that restarts is found again within seconds; one that stays away is asked twice a minute. */
export const reconnectBackoff: Backoff = { baseMs: 200, maxMs: 30_000 };

/** Doubles from `baseMs` to `maxMs`; the upper half is random, so that replicas do not come back in step. `attempt` counts from 0. */
export function backoffMs({ attempt, baseMs, maxMs }: Backoff & { attempt: number }, random: () => number): number {
  const ceiling = Math.min(maxMs, baseMs * 2 ** Math.min(attempt, 30));
  return Math.round(ceiling * (0.5 + random() / 2));
}
