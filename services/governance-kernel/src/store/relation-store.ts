import type { Digest, SnapshotId } from '@countersign/contracts';
import type { RelationSnapshotModel } from '../generated/prisma/models.ts';
import type { RelationHead } from '../controls/relations/relation-heads.ts';
import type { SnapshotRow } from '../controls/relations/snapshot-view.ts';
import type { Reader, Tx } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';

export async function findRelationHead(reader: Reader, tenant: string): Promise<RelationHead | null> {
  const row = await reader.relationHead.findUnique({ where: { tenant_id: tenant } });
  if (row === null) return null;
  const hash = row.snapshot_hash as Digest; // computed by the kernel
  const { version, confirmed_at: confirmedAt, members_version: membersVersion } = row;
  return { tenant, version, hash, confirmedAtMs: confirmedAt.getTime(), membersVersion };
}

const withoutChanges = { changes: true } as const;

export async function findSnapshot(reader: Reader, tenant: string, version: number): Promise<SnapshotRow | null> {
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
    id: row.snapshot_id as SnapshotId, // created by the kernel
    version: row.version,
    hash: row.snapshot_hash as Digest, // computed by the kernel
    previousHash: row.previous_hash as Digest | null,
    tupleCount: row.tuple_count,
    modelHash: row.model_hash as Digest | null,
    createdAtMs: row.created_at.getTime(),
    confirmedAtMs: row.confirmed_at.getTime(),
  };
}

/** `false` when a different version is current. */
export async function confirmSnapshot(
  tx: Tx,
  tenant: string,
  { version, at }: { version: number; at: Date },
): Promise<boolean> {
  const confirmed = { where: { tenant_id: tenant, version }, data: { confirmed_at: at } };
  const { count } = await tx.relationHead.updateMany(confirmed);
  if (count === 1) await tx.relationSnapshot.updateMany(confirmed);
  return count === 1;
}
