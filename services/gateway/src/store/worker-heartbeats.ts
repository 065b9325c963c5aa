import type { Tx } from './database.ts';

const row = 'runs';

/** All gateways share one row, so it is written once in this time at most. */
const writtenAfterMs = 5_000;

/** Notes by the database's clock that a gateway takes runs. */
export async function beat(tx: Tx): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO worker_heartbeats AS h (id, seen_at) VALUES (${row}, now())
    ON CONFLICT (id) DO UPDATE SET seen_at = now()
     WHERE h.seen_at < now() - ${writtenAfterMs}::float8 * interval '1 millisecond'`;
}

/** How long ago a gateway that takes runs reported last. `null` when none ever has. */
export async function heartbeatAgeMs(tx: Tx): Promise<number | null> {
  const rows = await tx.$queryRaw<{ age: number }[]>`
    SELECT (extract(epoch FROM now() - seen_at) * 1000)::float8 AS age FROM worker_heartbeats WHERE id = ${row}`;
  return rows[0]?.age ?? null;
}
