import type { Tx } from './database.ts';

export type WatchedService = 'kernel' | 'gateway';

export async function noteHeard(tx: Tx, service: WatchedService, now: Date): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO heartbeats (service, asked_at, heard_at) VALUES (${service}, ${now}, ${now})
    ON CONFLICT (service) DO UPDATE SET asked_at = excluded.asked_at, heard_at = excluded.heard_at, missed_since = NULL`;
}

/**
 * Records a missed probe, and returns the start of the service's silence. If the last probe ran before `awakeSince`,
 * the silence starts now, since our own pause proves nothing about the service.
 */
export async function noteMissed(
  tx: Tx,
  service: WatchedService,
  { now, awakeSince }: { now: Date; awakeSince: Date },
): Promise<Date> {
  const [row] = await tx.$queryRaw<{ missed_since: Date }[]>`
    INSERT INTO heartbeats AS known (service, asked_at, missed_since) VALUES (${service}, ${now}, ${now})
    ON CONFLICT (service) DO UPDATE SET asked_at = excluded.asked_at,
      missed_since = CASE WHEN known.asked_at < ${awakeSince} THEN excluded.missed_since
                          ELSE COALESCE(known.missed_since, excluded.missed_since) END
    RETURNING missed_since`;
  return row?.missed_since ?? now;
}
