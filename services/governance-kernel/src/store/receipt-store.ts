import type { ReceiptId, TenantId } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { ulidOf } from '@countersign/receipts';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import type { Reader } from './database.ts';
import { ledgerList, type LedgerFilter, type LedgerPage } from './ledger-list.ts';
import { receiptColumns, receiptColumnsSql, receiptOf, receiptsOf } from './ledger-row.ts';

/** Newest first. */
export async function listReceipts(
  reader: Reader,
  tenant: TenantId,
  filter: LedgerFilter,
  page: LedgerPage,
): Promise<StoredReceipt[]> {
  const statement = ledgerList(receiptColumnsSql, tenant, { filter, page });
  return statement === null ? [] : receiptsOf(await reader.$queryRaw(statement));
}

export async function findReceipt(reader: Reader, tenant: TenantId, id: ReceiptId): Promise<StoredReceipt | null> {
  const row = await reader.ledgerEntry.findUnique({
    where: { tenant_id: tenant, ulid: ulidOf(id) },
    select: receiptColumns,
  });
  return row === null ? null : receiptOf(row);
}

/** The receipts among these that belong to the tenant, unordered. */
export async function findReceipts(reader: Reader, tenant: TenantId, ids: ReceiptId[]): Promise<StoredReceipt[]> {
  const rows = await reader.ledgerEntry.findMany({
    where: { tenant_id: tenant, ulid: { in: ids.map(ulidOf) } },
    select: receiptColumns,
  });
  return rows.map(receiptOf);
}

export type SealedScope = { tenants: string[]; session?: string | undefined; principal?: string | undefined };
export type LogRange = { from: number; below: number; limit: number };

/**
 * Receipts of these tenants in the order of the log, from `from` (inclusive) to `below` (exclusive). Each tenant is
 * limited separately, so the log of others is not read.
 */
export async function listSealed(reader: Reader, scope: SealedScope, range: LogRange): Promise<StoredReceipt[]> {
  const { from, below, limit } = range;
  const { session, principal } = scope;
  const ofSession = session === undefined ? Sql.empty : Sql.sql`AND session_id = ${session}`;
  const ofPrincipal = principal === undefined ? Sql.empty : Sql.sql`AND principal_id = ${principal}`;
  const rows = await reader.$queryRaw`
    SELECT sealed.* FROM unnest(${scope.tenants}::text[]) AS reader (tenant_id) CROSS JOIN LATERAL (
      SELECT ${receiptColumnsSql} FROM ledger
       WHERE tenant_id = reader.tenant_id AND log_index >= ${from} AND log_index < ${below} ${ofSession} ${ofPrincipal}
       ORDER BY log_index NULLS FIRST LIMIT ${limit}) AS sealed
     ORDER BY log_index LIMIT ${limit}`;
  return receiptsOf(rows);
}
