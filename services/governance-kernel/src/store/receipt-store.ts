import type { ReceiptId, TenantId } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { ulidOf } from '@countersign/receipts';
import type pg from 'pg';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { ledgerList, type LedgerFilter, type LedgerPage } from './ledger-list.ts';
import { receiptColumns, receiptOf, type ReceiptColumns } from './ledger-row.ts';
import type { Prisma } from './prisma.ts';

/** Newest first. */
export async function listReceipts(
  prisma: Prisma,
  tenant: TenantId,
  filter: LedgerFilter,
  page: LedgerPage,
): Promise<StoredReceipt[]> {
  const columns = Sql.sql`log_index, payload, key_id, signature, receipt_hash`;
  const statement = ledgerList(columns, tenant, { filter, page });
  return statement === null ? [] : (await prisma.$queryRaw<ReceiptColumns[]>(statement)).map(receiptOf);
}

export async function findReceipt(prisma: Prisma, tenant: TenantId, id: ReceiptId): Promise<StoredReceipt | null> {
  const row = await prisma.ledgerEntry.findFirst({
    where: { tenant_id: tenant, ulid: ulidOf(id) },
    select: receiptColumns,
  });
  return row === null ? null : receiptOf(row);
}

export type SealedScope = { tenants: string[]; session?: string | undefined; principal?: string | undefined };
export type LogRange = { from: number; below: number; limit: number };

/** Receipts of these tenants in the order of the log, from `from` (inclusive) to `below` (exclusive). */
export async function listSealed(pool: pg.Pool, scope: SealedScope, range: LogRange): Promise<StoredReceipt[]> {
  const { rows } = await pool.query<ReceiptColumns>({
    ...sealedStatement(scope),
    values: [scope.tenants, range.from, range.below, range.limit, ...narrowing(scope).map(({ value }) => value)],
  });
  return rows.map(receiptOf);
}

/** Each tenant's part is cut to the limit on its own: the log of the others is not read. */
function sealedStatement(scope: SealedScope): { name: string; text: string } {
  const columns = narrowing(scope).map(({ column }) => column);
  return {
    name: ['list-sealed', ...columns].join('-'),
    text: `SELECT sealed.* FROM unnest($1::text[]) AS reader (tenant_id) CROSS JOIN LATERAL (
             SELECT log_index, payload, key_id, signature, receipt_hash FROM ledger
              WHERE tenant_id = reader.tenant_id AND log_index >= $2 AND log_index < $3
                ${columns.map((column, at) => `AND ${column} = $${at + 5}`).join(' ')}
              ORDER BY log_index NULLS FIRST LIMIT $4) AS sealed
            ORDER BY log_index LIMIT $4`,
  };
}

function narrowing({ session, principal }: SealedScope): { column: string; value: string }[] {
  return [
    ...(session === undefined ? [] : [{ column: 'session_id', value: session }]),
    ...(principal === undefined ? [] : [{ column: 'principal_id', value: principal }]),
  ];
}
