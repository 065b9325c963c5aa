import type { ReceiptId, TenantId } from '@countersign/contracts';
import type { StoredReceipt } from '@countersign/contracts/governance-kernel';
import type pg from 'pg';
import { receiptColumns, receiptOf, ulidOfId, type ReceiptColumns } from './ledger-row.ts';
import type { Prisma } from './prisma.ts';

export type ReceiptFilter = {
  session_id?: string | undefined;
  principal_id?: string | undefined;
  verdict?: string | undefined;
  reason_code?: string | undefined;
  tool?: string | undefined;
  action?: string | undefined;
  kind?: string | undefined;
  /** Inclusive. */
  from?: string | undefined;
  /** Exclusive. */
  to?: string | undefined;
};

/** Newest first. `before` is the log index of the last receipt already seen. */
export async function listReceipts(
  prisma: Prisma,
  tenant: TenantId,
  { from, to, ...equal }: ReceiptFilter,
  { limit, before }: { limit: number; before: number | null },
): Promise<StoredReceipt[]> {
  const rows = await prisma.ledgerEntry.findMany({
    where: {
      ...equal,
      tenant_id: tenant,
      issued_at: { gte: from, lt: to },
      ...(before === null ? {} : { log_index: { lt: before } }),
    },
    orderBy: { log_index: 'desc' },
    take: limit,
    select: receiptColumns,
  });
  return rows.map(receiptOf);
}

export async function findReceipt(prisma: Prisma, tenant: TenantId, id: ReceiptId): Promise<StoredReceipt | null> {
  const row = await prisma.ledgerEntry.findFirst({
    where: { tenant_id: tenant, ulid: ulidOfId(id) },
    select: receiptColumns,
  });
  return row === null ? null : receiptOf(row);
}

export type SealedScope = { tenants: string[]; session?: string | undefined; principal?: string | undefined };
export type LogRange = { from: number; below: number; limit: number };

/** Receipts of these tenants in the order of the log, from `from` (inclusive) to `below` (exclusive). */
export async function listSealed(pool: pg.Pool, scope: SealedScope, range: LogRange): Promise<StoredReceipt[]> {
  const { rows } = await pool.query<ReceiptColumns>({
    name: 'list-sealed',
    text: `SELECT log_index, payload, key_id, signature, receipt_hash FROM ledger
            WHERE tenant_id = ANY($1::text[]) AND log_index >= $2 AND log_index < $3
              AND ($4::text IS NULL OR session_id = $4) AND ($5::text IS NULL OR principal_id = $5)
            ORDER BY log_index LIMIT $6`,
    values: [scope.tenants, range.from, range.below, scope.session ?? null, scope.principal ?? null, range.limit],
  });
  return rows.map(receiptOf);
}
