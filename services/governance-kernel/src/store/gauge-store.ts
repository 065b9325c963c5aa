import { z } from 'zod';
import type { Reader } from './database.ts';

/* The measures of all tenants together. Counts stop at a bound, so that a scrape costs the same on a full table. */

const countedMax = 10_000;

const Counted = z.tuple([z.object({ counted: z.coerce.number() })]);

export async function countOpenDispatches(reader: Reader): Promise<number> {
  const rows = await reader.$queryRaw`
    SELECT count(*) AS counted FROM (SELECT 1 FROM dispatches LIMIT ${countedMax}) AS open`;
  return Counted.parse(rows)[0].counted;
}

/** Fences in force at this time. */
export async function countFences(reader: Reader, now: Date): Promise<number> {
  const rows = await reader.$queryRaw`
    SELECT count(*) AS counted FROM (
      SELECT 1 FROM fences WHERE kind <> 'open' AND (expires_at IS NULL OR expires_at > ${now}) LIMIT ${countedMax}) AS standing`;
  return Counted.parse(rows)[0].counted;
}

export async function sizeOfLog(reader: Reader): Promise<number> {
  const head = await reader.logHead.findFirst();
  return Number(head?.size ?? 0);
}

/** The time of the oldest unpublished event. `null` when all events are published. */
export async function findOldestUnsent(reader: Reader): Promise<Date | null> {
  const oldest = await reader.outbox.findFirst({
    where: { sentAt: null },
    orderBy: { position: 'asc' },
    select: { createdAt: true },
  });
  return oldest?.createdAt ?? null;
}
