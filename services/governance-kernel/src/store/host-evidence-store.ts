import { AppError, type Digest, type HostChainId, type ReceiptId, type TenantId } from '@countersign/contracts';
import type {
  BoundaryRecord,
  HostDrift,
  HostDriftKind,
  ReceiptPayload,
  StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { ulidOf } from '@countersign/receipts';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import { hostChains, hostDrift, type HostChainRow } from '../controls/evidence/host-rows.ts';
import type { Reader } from './database.ts';
import { ledgerList } from './ledger-list.ts';
import { receiptOf, recordOf, receiptColumnsSql } from './ledger-row.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

export async function findHostImport(reader: Reader, tenant: TenantId, hash: Digest): Promise<HostChainRow | null> {
  const row = await reader.hostChain.findFirst({ where: { tenant_id: tenant, import_hash: hash } });
  return row && hostChains.rowOf(asStored(row));
}

/** Throws NOT_FOUND. */
export async function getHostChain(reader: Reader, tenant: TenantId, id: HostChainId): Promise<HostChainRow> {
  const row = await reader.hostChain.findFirst({ where: { tenant_id: tenant, host_chain_id: id } });
  if (row === null)
    throw new AppError('NOT_FOUND', 'The tenant has no imported recorder chain with this ID', {
      param: 'host_chain_id',
    });
  return hostChains.rowOf(asStored(row));
}

export async function isHostReceiptKnown(reader: Reader, tenant: TenantId, hash: Digest): Promise<boolean> {
  const where = { tenant_id: tenant, receipt_hash: hash };
  return (await reader.hostReceipt.findFirst({ where, select: { receipt_hash: true } })) !== null;
}

type DriftFilter = { kind?: HostDriftKind | undefined; chainId?: HostChainId | undefined };

/** Newest first. */
export async function listHostDrift(
  reader: Reader,
  tenant: TenantId,
  { filter, page }: { filter: DriftFilter; page: PageRequest },
): Promise<Page<HostDrift>> {
  const behind = pageStart(page, /^hdr_[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows = await reader.hostDrift.findMany({
    where: {
      tenant_id: tenant,
      ...(filter.kind === undefined ? {} : { kind: filter.kind }),
      ...(filter.chainId === undefined ? {} : { host_chain_id: filter.chainId }),
      ...(behind === null ? {} : { drift_id: { lt: behind } }),
    },
    orderBy: { drift_id: 'desc' },
    take: page.limit + 1,
  });
  const found = rows.map((row) => hostDrift.rowOf(asStored(row)));
  return pageOf(found, page.limit, { item: ({ drift }) => drift, key: ({ id }) => id });
}

type SealedDecision = { receipt: StoredReceipt; record: BoundaryRecord };
type Period = { from: string; to: string };
const rowsInOneRead = 200;

/** The decisions of a period with their receipts, a page at a time. */
export async function* sealedDecisions(
  reader: Reader,
  tenant: TenantId,
  period: Period,
): AsyncGenerator<readonly SealedDecision[]> {
  for await (const rows of pagesOf(reader, tenant, { kind: 'decision', ...period }))
    yield rows.flatMap(({ receipt, record }) => (record === null ? [] : [{ receipt, record }]));
}

/** The outcomes of a period, a page at a time. */
export async function* sealedOutcomes(
  reader: Reader,
  tenant: TenantId,
  period: Period,
): AsyncGenerator<readonly ReceiptPayload[]> {
  for await (const rows of pagesOf(reader, tenant, { kind: 'outcome', ...period }))
    yield rows.map(({ receipt }) => receipt.payload);
}

export async function findDecisions(
  reader: Reader,
  tenant: TenantId,
  ids: readonly ReceiptId[],
): Promise<SealedDecision[]> {
  const ulids = ids.map(ulidOf);
  const rows = await reader.$queryRaw(
    Sql.sql`SELECT ${receiptColumnsSql}, record FROM ledger WHERE tenant_id = ${tenant} AND ulid = ANY(${ulids}::text[])`,
  );
  return entriesOf(rows).flatMap(({ receipt, record }) => (record === null ? [] : [{ receipt, record }]));
}

/** Sealed registrations or grants of the tenant, newest first. */
export async function sealedSettings(
  reader: Reader,
  tenant: TenantId,
  of: { action: 'mcp.server.register' | 'sandbox.grant.create'; limit: number },
): Promise<BoundaryRecord[]> {
  const filter = { action: of.action, kind: 'registry' };
  const statement = ledgerList(Sql.sql`record`, tenant, { filter, page: { limit: of.limit, before: null } });
  if (statement === null) return [];
  const rows = z.array(z.object({ record: z.string() })).parse(await reader.$queryRaw(statement));
  return rows.map(({ record }) => recordOf(record));
}

type LedgerPeriod = Period & { kind: 'decision' | 'outcome' };

async function* pagesOf(reader: Reader, tenant: TenantId, filter: LedgerPeriod) {
  let before: number | null = null;
  for (;;) {
    const page = { limit: rowsInOneRead, before };
    const statement = ledgerList(Sql.sql`${receiptColumnsSql}, record`, tenant, { filter, page });
    if (statement === null) return;
    const rows = entriesOf(await reader.$queryRaw(statement));
    yield rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < rowsInOneRead) return;
    before = last.receipt.log_index;
  }
}

function entriesOf(found: unknown) {
  return z
    .array(z.looseObject({ record: z.string().nullable() }))
    .parse(found)
    .map((row) => ({ receipt: receiptOf(row), record: row.record === null ? null : recordOf(row.record) }));
}
