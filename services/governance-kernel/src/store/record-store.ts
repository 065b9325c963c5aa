import { ReceiptId, type RecordId, type SessionId, type TenantId } from '@countersign/contracts';
import type { BoundaryRecord, StoredReceipt } from '@countersign/contracts/governance-kernel';
import { ulidOf } from '@countersign/receipts';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import type { Reader } from './database.ts';
import { ledgerList, type LedgerFilter, type LedgerPage } from './ledger-list.ts';
import { receiptColumns, receiptColumnsSql, receiptOf, recordOf } from './ledger-row.ts';
import { WholeNumber } from './whole-number.ts';

type RecordFilter = Omit<LedgerFilter, 'ulid'> & { receiptId?: ReceiptId | undefined };

/** A record with its receipt's place in the log, by which lists are paged. */
type PlacedRecord = { logIndex: number; record: BoundaryRecord };

/** Newest first. Outcomes have no record. They are at most half of the entries, so no index excludes them. */
export async function listRecords(
  reader: Reader,
  tenant: TenantId,
  { receiptId, ...request }: RecordFilter,
  page: LedgerPage,
): Promise<PlacedRecord[]> {
  const ofDecision = receiptId === undefined ? undefined : await decisionOf(reader, tenant, receiptId);
  const filter = { ...request, ulid: ofDecision === undefined ? undefined : ulidOf(ofDecision) };
  const statement = ledgerList(Sql.sql`log_index, record`, tenant, {
    filter,
    page,
    having: Sql.sql`record IS NOT NULL`,
  });
  if (statement === null) return [];
  const rows = PlacedRows.parse(await reader.$queryRaw(statement));
  return rows.map(({ log_index, record }) => ({ logIndex: log_index, record: recordOf(record) }));
}

const OutcomePayload = z.object({ decision_receipt_id: ReceiptId.optional() });

/** An outcome has no record of its own. It refers to the record of its decision. */
async function decisionOf(reader: Reader, tenant: TenantId, receiptId: ReceiptId): Promise<ReceiptId> {
  const where = { tenant_id: tenant, ulid: ulidOf(receiptId) };
  const row = await reader.ledgerEntry.findUnique({ where, select: { payload: true } });
  return (row === null ? null : OutcomePayload.parse(JSON.parse(row.payload)).decision_receipt_id) ?? receiptId;
}

const PlacedRows = z.array(z.object({ log_index: WholeNumber, record: z.string() }));

type RecordedReceipt = { receipt: StoredReceipt; record: BoundaryRecord | null };

/** A page of the tenant's receipts with their records, newest first. */
export async function listEntries(reader: Reader, tenant: TenantId, page: LedgerPage): Promise<RecordedReceipt[]> {
  const statement = ledgerList(Sql.sql`${receiptColumnsSql}, record`, tenant, { filter: {}, page });
  if (statement === null) return [];
  return entriesOf(await reader.$queryRaw(statement));
}

/** Receipts from a place on, oldest first. NULLS FIRST reads the index of the lists backwards. */
export async function listEntriesFrom(
  reader: Reader,
  tenant: TenantId,
  { from, below, limit }: { from: number; below: number | null; limit: number },
): Promise<RecordedReceipt[]> {
  const isBelow = below === null ? Sql.empty : Sql.sql`AND log_index < ${below}`;
  return entriesOf(
    await reader.$queryRaw(Sql.sql`SELECT ${receiptColumnsSql}, record FROM ledger
      WHERE tenant_id = ${tenant} AND log_index >= ${from} ${isBelow}
      ORDER BY log_index ASC NULLS FIRST LIMIT ${limit}`),
  );
}

function entriesOf(found: unknown): RecordedReceipt[] {
  return EntryRows.parse(found).map((row) => ({
    receipt: receiptOf(row),
    record: row.record === null ? null : recordOf(row.record),
  }));
}

const EntryRows = z.array(z.looseObject({ record: z.string().nullable() }));

export async function findRecord(reader: Reader, tenant: TenantId, id: RecordId): Promise<BoundaryRecord | null> {
  const row = await reader.ledgerEntry.findUnique({
    where: { tenant_id: tenant, ulid: ulidOf(id) },
    select: { record: true },
  });
  return row === null || row.record === null ? null : recordOf(row.record);
}

/** A record with its receipt. */
type SealedRecord = { record: BoundaryRecord; receipt: StoredReceipt };

export async function findSealedRecord(reader: Reader, tenant: TenantId, id: RecordId): Promise<SealedRecord | null> {
  const row = await reader.ledgerEntry.findUnique({
    where: { tenant_id: tenant, ulid: ulidOf(id) },
    select: { ...receiptColumns, record: true },
  });
  return row === null || row.record === null ? null : { record: recordOf(row.record), receipt: receiptOf(row) };
}

/** The receipts before and after a place in a chain, and the chain's head. */
export type Neighbours = { previous: StoredReceipt | null; next: StoredReceipt | null; headHash: string | null };

export async function findNeighbours(
  reader: Reader,
  tenant: TenantId,
  { session, lamport }: { session: SessionId; lamport: number },
): Promise<Neighbours> {
  const chain = { tenant_id: tenant, session_id: session };
  const [rows, head] = await Promise.all([
    reader.ledgerEntry.findMany({
      where: { ...chain, lamport_clock: { in: [lamport - 1, lamport + 1] } },
      select: { ...receiptColumns, lamport_clock: true },
    }),
    reader.sessionHead.findFirst({ where: chain, select: { receipt_hash: true } }),
  ]);
  const at = (place: number) => rows.find((row) => Number(row.lamport_clock) === place);
  const [previous, next] = [at(lamport - 1), at(lamport + 1)];
  return {
    previous: previous === undefined ? null : receiptOf(previous),
    next: next === undefined ? null : receiptOf(next),
    headHash: head?.receipt_hash ?? null,
  };
}
