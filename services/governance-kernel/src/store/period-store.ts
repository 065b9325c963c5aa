import { SessionId, type Instant, type TenantId } from '@countersign/contracts';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { linkColumnsSql, linkOf, type ChainLink } from './chain-link.ts';
import type { Reader } from './database.ts';
import { signedBySql, type Signed } from './signed-by.ts';
import { WholeNumber } from './whole-number.ts';

/** A tenant's period in a log of `below` receipts. Nothing joins or leaves it. */
type PeriodScope = { tenant: TenantId; from: Instant; to: Instant; below: number };

/** How many receipts there are, counted up to `most`, and the first leaf that one of them has in the log. */
export async function countPeriod(
  reader: Reader,
  scope: PeriodScope,
  most: number,
): Promise<{ receipts: number; firstLeaf: number | null }> {
  const rows = await reader.$queryRaw`
    SELECT count(*) AS found, min(log_index) AS first FROM (
      SELECT log_index FROM ledger WHERE ${within(scope)} ORDER BY ${inOrderOfIssue} LIMIT ${most}) AS counted`;
  const [{ found, first }] = Counted.parse(rows);
  return { receipts: found, firstLeaf: first };
}

/** Whether a key has signed anything of it. */
export async function hasSignedOfPeriod(reader: Reader, scope: PeriodScope, signed: Signed): Promise<boolean> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger WHERE ${within(scope)} AND ${signedBySql(signed)} ORDER BY ${inOrderOfIssue} LIMIT 1`;
  return rows.length > 0;
}

const Counted = z.tuple([z.object({ found: WholeNumber, first: WholeNumber.nullable() })]);

/** A place in the order of issue, which begins with the period. */
export type PeriodPlace = { issuedAt: Instant; logIndex: number };

/** A receipt of the period. `begins`: the period's part of its session begins with it; null where its predecessor is gone. */
export type PeriodReceipt = { session: SessionId; lamport: number; place: PeriodPlace; begins: boolean | null };

const Receipts = z.array(
  z.object({
    session_id: SessionId,
    lamport_clock: WholeNumber,
    issued_at: z.date(),
    log_index: WholeNumber,
    begins: z.boolean().nullable(),
  }),
);

/** In the order of issue, from behind a place on. Each looks at its predecessor alone, by its key. */
export async function listPeriod(
  reader: Reader,
  scope: PeriodScope,
  { after, limit }: { after: PeriodPlace; limit: number },
): Promise<PeriodReceipt[]> {
  const { tenant, from } = scope;
  const rows = await reader.$queryRaw`
    SELECT p.*, CASE WHEN lamport_clock = 1 THEN true ELSE (
             SELECT b.issued_at < ${from}::timestamptz FROM ledger b
              WHERE b.tenant_id = ${tenant} AND b.session_id = p.session_id AND b.lamport_clock = p.lamport_clock - 1) END AS begins
      FROM (SELECT session_id, lamport_clock, issued_at, log_index FROM ledger
             WHERE ${within(scope)} AND (issued_at, log_index) > (${after.issuedAt}::timestamptz, ${after.logIndex})
             ORDER BY ${inOrderOfIssue} LIMIT ${limit}) AS p
     ORDER BY issued_at, log_index`;
  return Receipts.parse(rows).map(({ session_id, lamport_clock, issued_at, log_index, begins }) => ({
    session: session_id,
    lamport: lamport_clock,
    place: { issuedAt: issued_at.toISOString() as Instant, logIndex: log_index }, // toISOString writes exactly this form
    begins,
  }));
}

/** Where the rest of a session's part begins. */
export type PeriodPart = { session: SessionId; lamport: number };

/**
 * The next links of these parts, one part after the other. Each part is read by its key and no further than the answer
 * needs, and only then compared with the period. No plan may search the other way round.
 */
export async function listParts(
  reader: Reader,
  scope: PeriodScope,
  { parts, limit }: { parts: readonly PeriodPart[]; limit: number },
): Promise<ChainLink[]> {
  const sessions = parts.map(({ session }) => session);
  const firsts = parts.map(({ lamport }) => lamport);
  const rows = await reader.$queryRaw`
    SELECT ${linkColumnsSql} FROM unnest(${sessions}::text[], ${firsts}::bigint[]) WITH ORDINALITY AS part (session, first, nth)
     CROSS JOIN LATERAL (
       SELECT ${linkColumnsSql}, tenant_id, issued_at FROM ledger
        WHERE tenant_id = ${scope.tenant} AND session_id = part.session
          AND lamport_clock >= part.first AND lamport_clock < part.first + ${limit}
        ORDER BY lamport_clock LIMIT ${limit}) AS link
     WHERE ${within(scope)} ORDER BY nth, lamport_clock LIMIT ${limit}`;
  return z.array(z.unknown()).parse(rows).map(linkOf);
}

function within({ tenant, from, to, below }: PeriodScope): Sql.Sql {
  return Sql.sql`tenant_id = ${tenant} AND issued_at >= ${from}::timestamptz AND issued_at < ${to}::timestamptz
                 AND log_index < ${below}`;
}

/** NULLS FIRST is the order of the index and of no other. */
const inOrderOfIssue = Sql.sql`issued_at NULLS FIRST, log_index NULLS FIRST`;
