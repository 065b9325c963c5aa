import type { Tx } from './database.ts';

const row = 'runs';

/** All gateways share one row, so it is written at most once in this time. */
const writtenAfterMs = 5_000;

/** Records, by the clock of the database, that a gateway executes runs. */
export async function beat(tx: Tx): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO worker_heartbeats AS h (id, seen_at) VALUES (${row}, now())
    ON CONFLICT (id) DO UPDATE SET seen_at = now()
     WHERE h.seen_at < now() - ${writtenAfterMs}::float8 * interval '1 millisecond'`;
}

/** The time since a gateway that executes runs last reported. `null` when none ever has. */
export async function heartbeatAgeMs(tx: Tx): Promise<number | null> {
  const rows = await tx.$queryRaw<{ age: number }[]>`
    SELECT (extract(epoch FROM now() - seen_at) * 1000)::float8 AS age FROM worker_heartbeats WHERE id = ${row}`;
  return rows[0]?.age ?? null;
}
