import { instantOf, SessionId, type Instant, type TenantId } from '@countersign/contracts';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { linkColumnsSql, linkOf, type ChainLink } from './chain-link.ts';
import type { Reader } from './database.ts';
import { signedBySql, type Signed } from './signed-by.ts';
import { WholeNumber } from './whole-number.ts';

/** A tenant's period in a log of `below` receipts. Its content never changes. */
type PeriodScope = { tenant: TenantId; from: Instant; to: Instant; below: number };

/** The number of receipts, counted up to `most`, with the first and the last of their leaves. */
export async function countPeriod(
  reader: Reader,
  scope: PeriodScope,
  most: number,
): Promise<{ receipts: number; firstLeaf: number | null; lastLeaf: number | null }> {
  const rows = await reader.$queryRaw`
    SELECT count(*) AS found, min(log_index) AS first, max(log_index) AS last FROM (
      SELECT log_index FROM ledger WHERE ${within(scope)} ORDER BY ${inOrderOfIssue} LIMIT ${most}) AS counted`;
  const [{ found, first, last }] = Counted.parse(rows);
  return { receipts: found, firstLeaf: first, lastLeaf: last };
}

/** Whether the period contains a signature of the key. */
export async function hasSignedOfPeriod(reader: Reader, scope: PeriodScope, signed: Signed): Promise<boolean> {
  const rows = await reader.$queryRaw<unknown[]>`
    SELECT 1 FROM ledger WHERE ${within(scope)} AND ${signedBySql(signed)} ORDER BY ${inOrderOfIssue} LIMIT 1`;
  return rows.length > 0;
}

const Counted = z.tuple([
  z.object({ found: WholeNumber, first: WholeNumber.nullable(), last: WholeNumber.nullable() }),
]);

/** A place in the order of issue. */
export type PeriodPlace = { issuedAt: Instant; logIndex: number };

/**
 * A receipt of the period. `begins`: whether it is the first receipt of its session within the period. `null` when its
 * predecessor is missing.
 */
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

/** Receipts in order of issue, after a place. Only the predecessor of each is read, by its key. */
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
    place: { issuedAt: instantOf(issued_at), logIndex: log_index }, // toISOString writes exactly this form
    begins,
  }));
}

/** The start of the remaining part of a session. */
export type PeriodPart = { session: SessionId; lamport: number };

/**
 * The next links of these parts, one part after the other. At most `limit` links of each part are read by their key,
 * and then filtered by the period. The LATERAL join makes the query plan read first and filter then.
 */
export async function listParts(
  reader: Reader,
  scope: PeriodScope,
  { pieces, limit }: { pieces: readonly PeriodPart[]; limit: number },
): Promise<ChainLink[]> {
  const sessions = pieces.map(({ session }) => session);
  const firsts = pieces.map(({ lamport }) => lamport);
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

/** NULLS FIRST matches the index, and no other order would use it. */
const inOrderOfIssue = Sql.sql`issued_at NULLS FIRST, log_index NULLS FIRST`;
