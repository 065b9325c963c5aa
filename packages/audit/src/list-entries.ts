import { AppError, type Digest } from '@countersign/contracts';
import { tellEntry, type AuditFacts, type AuditRow } from './entry.ts';

type EntryFilter = {
  action?: string | undefined;
  actor?: string | undefined;
  verdict?: string | undefined;
  /** Inclusive. */
  from?: string | undefined;
  /** Exclusive. */
  to?: string | undefined;
};

export type EntriesQuery = EntryFilter & { limit: number; cursor?: string | undefined };

/** A condition in the syntax of Prisma. An entry must match all conditions of a query. The reader adds the scope. */
type EntryCondition = {
  action?: string;
  actor?: string;
  verdict?: string;
  seq?: { lt: number };
  createdAt?: { gte?: string; lt?: string; lte?: Date };
  NOT?: { createdAt: Date; seq: { gte: number } };
};

export type EntryQuery = {
  where: EntryCondition[];
  orderBy: ({ createdAt: 'desc' } | { seq: 'desc' })[];
  take: number;
};

/** Reads one chain for its service. */
type ChainReader<Content> = {
  findRows(query: EntryQuery): Promise<AuditRow[]>;
  /** The time of the entry at this position. `null` when there is none. */
  findTime(seq: number): Promise<Date | null>;
  contentOf(facts: AuditFacts): Content;
};

type EntryPage<Content> = { entries: (Content & { hash: Digest })[]; nextCursor: string | null };

/**
 * Lists entries, newest first. A query with `from` or `to` is sorted by time and then by position, all others by
 * position. The cursor is attacker-controlled. Throws INVALID_REQUEST when it is malformed.
 */
export async function listEntries<Content extends object>(
  reader: ChainReader<Content>,
  query: EntriesQuery,
): Promise<EntryPage<Content>> {
  const isTimed = query.from !== undefined || query.to !== undefined;
  const rows = await reader.findRows({
    where: [matching(query), await older(reader, query, { isTimed })],
    orderBy: isTimed ? [{ createdAt: 'desc' }, { seq: 'desc' }] : [{ seq: 'desc' }],
    take: query.limit + 1,
  });
  const shown = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? shown.at(-1) : undefined;
  return {
    entries: shown.map((row) => tellEntry(row, reader.contentOf)),
    nextCursor: last === undefined ? null : Buffer.from(String(last.seq)).toString('base64url'),
  };
}

function matching({ action, actor, verdict, from, to }: EntryFilter): EntryCondition {
  return {
    ...(action !== undefined && { action }),
    ...(actor !== undefined && { actor }),
    ...(verdict !== undefined && { verdict }),
    createdAt: { ...(from !== undefined && { gte: from }), ...(to !== undefined && { lt: to }) },
  };
}

/**
 * The condition for entries older than the cursor. The list starts again at its newest entry if the position of the
 * cursor is too large for the column. It does the same if a query with times finds no entry at the position.
 */
async function older(
  reader: Pick<ChainReader<object>, 'findTime'>,
  { cursor }: EntriesQuery,
  { isTimed }: { isTimed: boolean },
): Promise<EntryCondition> {
  if (cursor === undefined) return {};
  const seq = placeOf(cursor);
  if (seq > seqMax) return {};
  if (!isTimed) return { seq: { lt: seq } };
  const createdAt = await reader.findTime(seq);
  if (createdAt === null) return {};
  return { createdAt: { lte: createdAt }, NOT: { createdAt, seq: { gte: seq } } };
}

/** The largest value of the columns, which are INTEGER. */
const seqMax = 2_147_483_647;

function placeOf(cursor: string): number {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (/^[1-9]\d{0,9}$/.test(key)) return Number(key);
  throw new AppError('INVALID_REQUEST', 'The cursor was not issued by this list. Begin without a cursor', {
    param: 'cursor',
  });
}
