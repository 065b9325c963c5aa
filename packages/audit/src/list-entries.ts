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

export type EntriesAsked = EntryFilter & { limit: number; cursor?: string | undefined };

/** In the words of Prisma's filters, all of which hold; the reader adds whose chain it is. */
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

/** One chain, as its service reads it. */
type ChainReader<Content> = {
  findRows(query: EntryQuery): Promise<AuditRow[]>;
  /** When the entry at this place was written; null for none. */
  findTime(seq: number): Promise<Date | null>;
  contentOf(facts: AuditFacts): Content;
};

type EntryPage<Content> = { entries: (Content & { hash: Digest })[]; nextCursor: string | null };

/**
 * Newest first: by place in the chain, and by time where times are asked for, since the place alone does not lead to them. Throws
 * INVALID_REQUEST for a cursor (attacker-controlled) that is none.
 */
export async function listEntries<Content extends object>(
  reader: ChainReader<Content>,
  query: EntriesAsked,
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

/** The entries after the last one that was read; a cursor without one begins again. */
async function older(
  reader: Pick<ChainReader<object>, 'findTime'>,
  { cursor }: EntriesAsked,
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

/** The columns are INTEGER. */
const seqMax = 2_147_483_647;

function placeOf(cursor: string): number {
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (/^[1-9]\d{0,9}$/.test(key)) return Number(key);
  throw new AppError('INVALID_REQUEST', 'The cursor is not one of ours', { param: 'cursor' });
}
