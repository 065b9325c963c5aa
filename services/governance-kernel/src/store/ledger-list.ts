import type { TenantId } from '@countersign/contracts';
import { Prisma as Sql } from '../generated/prisma/client.ts';

export type LedgerFilter = {
  session_id?: string | undefined;
  lamport_clock?: number | undefined;
  principal_id?: string | undefined;
  verdict?: string | undefined;
  reason_code?: string | undefined;
  tool?: string | undefined;
  action?: string | undefined;
  kind?: string | undefined;
  ulid?: string | undefined;
  /** Inclusive. */
  from?: string | undefined;
  /** Exclusive. */
  to?: string | undefined;
};

/** `before` is the log index of the last entry of the previous page. */
export type LedgerPage = { limit: number; before: number | null };

/**
 * The statement for one page of a tenant's entries, newest first. They are ordered by place in the log, or by time of
 * issue if times are requested, since places do not determine times. NULLS LAST matches the indexes of the lists, and
 * no other order would use them. `null` when nothing can match.
 */
export function ledgerList(
  columns: Sql.Sql,
  tenant: TenantId,
  { filter, page, having }: { filter: LedgerFilter; page: LedgerPage; having?: Sql.Sql },
): Sql.Sql | null {
  const { from, to, ...columnsAsked } = filter;
  const equal = indexedFilter(columnsAsked);
  if (equal === null) return null;
  const isTimed = from !== undefined || to !== undefined;
  const conditions = [
    Sql.sql`tenant_id = ${tenant}`,
    ...(having === undefined ? [] : [having]),
    ...Object.entries<string | number | undefined>(equal).flatMap(([column, value]) =>
      value === undefined ? [] : [is(column, value)],
    ),
    ...(from === undefined ? [] : [Sql.sql`issued_at >= ${from}::timestamptz`]),
    ...(to === undefined ? [] : [Sql.sql`issued_at < ${to}::timestamptz`]),
    ...(page.before === null ? [] : [isTimed ? issuedBefore(page.before) : Sql.sql`log_index < ${page.before}`]),
  ];
  const time = isTimed ? Sql.sql`issued_at DESC NULLS LAST,` : Sql.empty;
  return Sql.sql`SELECT ${columns} FROM ledger WHERE ${Sql.join(conditions, ' AND ')}
    ORDER BY ${time} log_index DESC NULLS LAST LIMIT ${page.limit}`;
}

/** The names are members of the filter type, never text from a caller. */
function is(column: string, value: string | number): Sql.Sql {
  return Sql.sql`${Sql.raw(column)} = ${value}`;
}

/**
 * Selects the entries that were issued before the entry at this place. Clocks of kernels differ, so a later place may
 * have an earlier time.
 */
function issuedBefore(logIndex: number): Sql.Sql {
  return Sql.sql`(issued_at, log_index) < ((SELECT issued_at FROM ledger WHERE log_index = ${logIndex}), ${logIndex})`;
}

type EqualFilter = Omit<LedgerFilter, 'from' | 'to'>;

/**
 * ALLOWED is the reason of every ALLOW and of nothing else (a CHECK of the table), and only the other reasons are
 * indexed. `null` when verdict and reason exclude each other.
 */
function indexedFilter(filter: EqualFilter): EqualFilter | null {
  const { verdict, reason_code: reason } = filter;
  if (reason === undefined) return filter;
  const isAllowed = reason === 'ALLOWED';
  if (verdict !== undefined && (verdict === 'ALLOW') !== isAllowed) return null;
  return isAllowed ? { ...filter, reason_code: undefined, verdict: 'ALLOW' } : filter;
}
