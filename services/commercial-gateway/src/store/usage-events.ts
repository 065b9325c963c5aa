import type { OrgId } from '@countersign/contracts/governance-kernel';
import { withinMonthLimit } from '../metering/month-limit.ts';
import type { UsageEvent } from '../metering/usage-event.ts';
import type { Reader, Tx } from './database.ts';
import { sumUsageMonths, usageMonthOf } from './usage-months.ts';

/** The number of the last usage event of an organisation, and the end of the billed usage. */
export type UsageHead = { lastSeq: bigint; billedSeq: bigint; billedUntil: Date | null };

/**
 * Locks the usage of an organisation until the transaction ends, so that events are numbered in the order of commits.
 */
export async function lockUsageHead(tx: Tx, orgId: OrgId): Promise<UsageHead> {
  await tx.usageHead.createMany({ data: { orgId, lastSeq: 0, billedSeq: 0, billedUntil: null }, skipDuplicates: true });
  await tx.$executeRaw`SELECT FROM usage_heads WHERE org_id = ${orgId} FOR UPDATE`;
  return tx.usageHead.findUniqueOrThrow({ where: { orgId } });
}

/** Returns the usage head without a lock. */
export async function findUsageHead(reader: Reader, orgId: OrgId): Promise<UsageHead> {
  const head = await reader.usageHead.findUnique({ where: { orgId } });
  return head ?? { lastSeq: 0n, billedSeq: 0n, billedUntil: null };
}

type RecordedUsage = {
  stored: number;
  /** Events that were already stored, or occur twice in the batch. Includes the conflicts. */
  duplicates: number;
  /** Events whose ID was already used with other contents. The first event is kept. */
  conflicts: UsageEvent[];
  /** Events over the limit of their month. They are not stored. */
  overLimit: UsageEvent[];
};

type NewUsage = {
  orgId: OrgId;
  events: readonly UsageEvent[];
  receivedAt: Date;
  /** Whether the monthly limit applies. Default: false. Events of receipts have no limit. */
  isLimited?: boolean;
};

/** Stores each event once, in any order and number of deliveries. New events get the next numbers. */
export async function recordUsage(
  tx: Tx,
  { orgId, events, receivedAt, isLimited = false }: NewUsage,
): Promise<RecordedUsage> {
  const head = await lockUsageHead(tx, orgId);
  const stored = await findStored(tx, orgId, events);
  const conflicts: UsageEvent[] = [];
  const added = new Map<string, UsageEvent>();
  for (const event of events) {
    const first = stored.get(keyOf(event)) ?? added.get(keyOf(event));
    if (first === undefined) added.set(keyOf(event), event);
    else if (!isSame(first, event)) conflicts.push(event);
  }
  const unstored = [...added.values()];
  const { accepted, refused: overLimit } = isLimited
    ? withinMonthLimit(unstored, { totals: await sumUsageMonths(tx, orgId, unstored), monthOf: usageMonthOf })
    : { accepted: unstored, refused: [] };
  const data = accepted.map((event, index) => ({
    ...event,
    orgId,
    seq: head.lastSeq + BigInt(index) + 1n,
    receivedAt,
  }));
  if (data.length > 0) {
    await tx.usageEvent.createMany({ data });
    await tx.usageHead.update({ where: { orgId }, data: { lastSeq: head.lastSeq + BigInt(data.length) } });
  }
  return { stored: data.length, duplicates: events.length - unstored.length, conflicts, overLimit };
}

export async function findUsagePosition(
  reader: Reader,
  { orgId, source }: { orgId: OrgId; source: string },
): Promise<bigint> {
  const cursor = await reader.usageCursor.findUnique({ where: { orgId_source: { orgId, source } } });
  return cursor?.position ?? 0n;
}

/**
 * Moves the read position of a source. Returns false when another reader moved it first. In that case the events must
 * not be stored again.
 */
export async function advanceUsageCursor(
  tx: Tx,
  { orgId, source, from, to, now }: { orgId: OrgId; source: string; from: bigint; to: bigint; now: Date },
): Promise<boolean> {
  await tx.usageCursor.createMany({ data: { orgId, source, position: 0, updatedAt: now }, skipDuplicates: true });
  const where = { orgId, source, position: from };
  const { count } = await tx.usageCursor.updateMany({ where, data: { position: to, updatedAt: now } });
  return count === 1;
}

/**
 * Records that all events up to `lastSeq` that occurred before `until` are billed. Throws when a later time is already
 * billed.
 */
export async function markUsageBilled(
  tx: Tx,
  orgId: OrgId,
  { lastSeq, until }: { lastSeq: bigint; until: Date },
): Promise<void> {
  const { count } = await tx.usageHead.updateMany({
    where: { orgId, OR: [{ billedUntil: null }, { billedUntil: { lte: until } }] },
    data: { billedSeq: lastSeq, billedUntil: until },
  });
  if (count !== 1) throw new Error(`Usage of ${orgId} is billed beyond ${until.toISOString()}`);
}

type ComparedEvent = Pick<UsageEvent, 'quantityMicros' | 'occurredAt'> & { meter: string };

async function findStored(
  tx: Tx,
  orgId: OrgId,
  events: readonly UsageEvent[],
): Promise<ReadonlyMap<string, ComparedEvent>> {
  const found = new Map<string, ComparedEvent>();
  for (const source of new Set(events.map((event) => event.source))) {
    const ids = events.filter((event) => event.source === source).map(({ id }) => id);
    const rows = await tx.usageEvent.findMany({ where: { orgId, source, id: { in: ids } } });
    for (const row of rows) found.set(keyOf(row), row);
  }
  return found;
}

function isSame(a: ComparedEvent, b: ComparedEvent): boolean {
  return (
    a.meter === b.meter && a.quantityMicros === b.quantityMicros && a.occurredAt.getTime() === b.occurredAt.getTime()
  );
}

function keyOf({ source, id }: { source: string; id: string }): string {
  return JSON.stringify([source, id]);
}
