import type { Digest, SnapshotId } from '@countersign/contracts';
import type { RelationSnapshotModel } from '../generated/prisma/models.ts';
import type { RelationHead } from '../relations/relation-heads.ts';
import type { SnapshotRow } from '../relations/snapshot-view.ts';
import type { Reader, Tx } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';

export async function findRelationHead(reader: Reader | Tx, tenant: string): Promise<RelationHead | null> {
  const row = await reader.relationHead.findUnique({ where: { tenant_id: tenant } });
  if (row === null) return null;
  const hash = row.snapshot_hash as Digest; // the kernel hashed it
  return { tenant, version: row.version, hash, confirmedAtMs: row.confirmed_at.getTime() };
}

const withoutChanges = { changes: true } as const;

export async function findSnapshot(reader: Reader | Tx, tenant: string, version: number): Promise<SnapshotRow | null> {
  const row = await reader.relationSnapshot.findUnique({
    where: { tenant_id_version: { tenant_id: tenant, version } },
    omit: withoutChanges,
  });
  return row === null ? null : snapshotOf(row);
}

export async function findSnapshotWithChanges(reader: Reader, tenant: string, id: SnapshotId) {
  const row = await reader.relationSnapshot.findUnique({
    where: { tenant_id_snapshot_id: { tenant_id: tenant, snapshot_id: id } },
  });
  return row === null ? null : { snapshot: snapshotOf(row), changes: row.changes };
}

/** Newest first. */
export async function listSnapshots<Item>(
  reader: Reader,
  tenant: string,
  { page, item }: { page: PageRequest; item: (snapshot: SnapshotRow) => Item },
): Promise<Page<Item>> {
  const before = pageStart(page, /^[1-9]\d{0,9}$/);
  const rows = await reader.relationSnapshot.findMany({
    where: { tenant_id: tenant, ...(before === null ? {} : { version: { lt: Number(before) } }) },
    orderBy: { version: 'desc' },
    take: page.limit + 1,
    omit: withoutChanges,
  });
  return pageOf(rows, page.limit, { item: (row) => item(snapshotOf(row)), key: ({ version }) => String(version) });
}

function snapshotOf(row: Omit<RelationSnapshotModel, 'changes'>): SnapshotRow {
  return {
    id: row.snapshot_id as SnapshotId, // the kernel named it
    version: row.version,
    hash: row.snapshot_hash as Digest, // and hashed these
    previousHash: row.previous_hash as Digest | null,
    tupleCount: row.tuple_count,
    modelHash: row.model_hash as Digest | null,
    createdAtMs: row.created_at.getTime(),
    confirmedAtMs: row.confirmed_at.getTime(),
  };
}

/** Of two writers the second waits. Two keys, so that it is no lock of anybody else's; tenants that share one only wait for each other. */
export async function lockRelations(tx: Tx, tenant: string): Promise<void> {
  await tx.$queryRaw`SELECT pg_advisory_xact_lock(2118, hashtext(${tenant}))::text`;
}

/** So many snapshots are kept for each tenant. */
const snapshotsKept = 256;

/** Last in its transaction: from the head on, every commit of the kernel waits for this one. */
export async function recordSnapshot(
  tx: Tx,
  tenant: string,
  made: { snapshot: SnapshotRow; changes: object },
): Promise<void> {
  const { id, version, hash, previousHash, tupleCount, modelHash, createdAtMs } = made.snapshot;
  const at = new Date(createdAtMs);
  await tx.relationSnapshot.create({
    data: {
      ...{ tenant_id: tenant, version, snapshot_id: id, snapshot_hash: hash, previous_hash: previousHash },
      ...{ changes: made.changes, tuple_count: tupleCount, model_hash: modelHash, created_at: at, confirmed_at: at },
    },
  });
  await tx.relationSnapshot.deleteMany({ where: { tenant_id: tenant, version: { lte: version - snapshotsKept } } });
  const head = { version, snapshot_hash: hash, confirmed_at: at };
  await tx.relationHead.upsert({ where: { tenant_id: tenant }, create: { tenant_id: tenant, ...head }, update: head });
}

export async function confirmSnapshot(
  tx: Tx,
  tenant: string,
  { version, at }: { version: number; at: Date },
): Promise<void> {
  const confirmed = { confirmed_at: at };
  await tx.relationSnapshot.update({ where: { tenant_id_version: { tenant_id: tenant, version } }, data: confirmed });
  await tx.relationHead.update({ where: { tenant_id: tenant }, data: confirmed });
}
