import { AppError, type Digest, type PlainJson, type SnapshotId, type TenantId } from '@countersign/contracts';
import type {
  EntityChange,
  PermissionModel,
  RelationshipChanges,
  RelationTuple,
  TuplePrecondition,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, canonicalize, digestOf, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { entityOf, type Entity } from './entity.ts';
import type { SnapshotRow } from './snapshot-view.ts';

/** The tables of one tenant's relations, within one transaction that no other writer of the tenant enters. */
type RelationWriter = {
  standing(): Promise<SnapshotRow | null>;
  hasTuple(tuple: RelationTuple): Promise<boolean>;
  /** Those that were not there, in order. */
  insertTuples(tuples: readonly RelationTuple[]): Promise<RelationTuple[]>;
  /** Those that were there, in order. */
  deleteTuples(tuples: readonly RelationTuple[]): Promise<RelationTuple[]>;
  insertEntities(entities: readonly Entity[]): Promise<void>;
  /** Those that changed. */
  putEntities(entities: readonly (Entity & { properties: Record<string, PlainJson> })[]): Promise<Entity[]>;
  deleteEntities(entities: readonly Entity[]): Promise<Entity[]>;
  putModel(model: { hash: Digest; text: string }): Promise<void>;
  record(snapshot: SnapshotRow, changes: Record<string, PlainJson>): Promise<void>;
  confirm(version: number, at: Date): Promise<void>;
};

export type WriteRelations = <Result>(
  tenant: string,
  work: (writer: RelationWriter) => Promise<Result>,
) => Promise<Result>;

type Parts = {
  provider: CryptoProvider;
  writeRelations: WriteRelations;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Batch = RelationshipChanges & {
  tenant_id: TenantId;
  preconditions: readonly TuplePrecondition[];
  expected_version?: number | undefined;
};

type Changed = { snapshot: SnapshotRow; written: number; deleted: number; confirmed: boolean };

/** All of the batch or nothing. Throws INVALID_REQUEST where it says two things about one name, PRECONDITION_FAILED where it knows too little. */
export async function changeRelationships(parts: Parts, batch: Batch): Promise<Changed> {
  refuseContradictions(batch);
  return await parts.writeRelations(batch.tenant_id, async (writer) => {
    const standing = await writer.standing();
    await requireExpected(writer, batch, standing);
    const deletes = await writer.deleteTuples(batch.deletes);
    const writes = await writer.insertTuples(batch.writes);
    await writer.insertEntities(entitiesNamed(writes));
    const entities = await changeEntities(writer, batch.entities);
    const [written, deleted] = [writes.length, deletes.length];
    if (standing !== null && written + deleted + entities.length === 0)
      return { snapshot: await confirmed(parts, writer, standing), written, deleted, confirmed: true };
    const tupleCount = (standing?.tupleCount ?? 0) + written - deleted;
    const changes = { writes, deletes, entities };
    const snapshot = nextSnapshot(parts, { standing, changes, tupleCount, modelHash: standing?.modelHash ?? null });
    await writer.record(snapshot, changes);
    return { snapshot, written, deleted, confirmed: false };
  });
}

/** What may be done to the tenant's entities from now on. */
export function changePermissionModel(parts: Parts, tenant: TenantId, model: PermissionModel): Promise<SnapshotRow> {
  const plain = parsePlainJson(model);
  const hash = digestOf(parts.provider, canonicalBytes(plain)) as Digest; // digestOf writes exactly this form
  return parts.writeRelations(tenant, async (writer) => {
    const standing = await writer.standing();
    if (standing?.modelHash === hash) return await confirmed(parts, writer, standing);
    await writer.putModel({ hash, text: canonicalize(plain) });
    const changes = { model_hash: hash };
    const tupleCount = standing?.tupleCount ?? 0;
    const snapshot = nextSnapshot(parts, { standing, changes, tupleCount, modelHash: hash });
    await writer.record(snapshot, changes);
    return snapshot;
  });
}

/** The order within a batch is nobody's, so a name may be in it once. */
function refuseContradictions({ writes, deletes, entities }: Batch): void {
  const gone = new Set(deletes.map(nameOf));
  const both = writes.find((tuple) => gone.has(nameOf(tuple)));
  if (both !== undefined)
    throw new AppError('INVALID_REQUEST', `${nameOf(both)} is to be written and deleted`, { param: 'writes' });
  if (new Set(entities.map(({ entity }) => entity)).size !== entities.length)
    throw new AppError('INVALID_REQUEST', 'An entity is named twice', { param: 'entities' });
}

async function requireExpected(writer: RelationWriter, batch: Batch, standing: SnapshotRow | null): Promise<void> {
  const version = standing?.version ?? 0;
  if (batch.expected_version !== undefined && batch.expected_version !== version)
    throw new AppError('PRECONDITION_FAILED', `The version is ${version}`, {
      param: 'expected_version',
      details: { version },
    });
  for (const { exists, ...tuple } of batch.preconditions) {
    if ((await writer.hasTuple(tuple)) === exists) continue;
    const said = `${nameOf(tuple)} is ${exists ? 'not there' : 'there'}`;
    throw new AppError('PRECONDITION_FAILED', said, { param: 'preconditions', details: { version } });
  }
}

function entitiesNamed(tuples: readonly RelationTuple[]): Entity[] {
  const named = new Set(tuples.flatMap(({ object, subject }) => [object, subject.replace(/#.*$/s, '')]));
  return [...named].map(entityOf);
}

/** In the order of names, whatever order they came in. */
async function changeEntities(writer: RelationWriter, changes: readonly EntityChange[]) {
  const known = changes.flatMap(({ entity, properties }) =>
    properties === null ? [] : [{ ...entityOf(entity), properties }],
  );
  const gone = changes.filter(({ properties }) => properties === null).map(({ entity }) => entityOf(entity));
  const changed = [...(await writer.putEntities(known)), ...(await writer.deleteEntities(gone))];
  const names = new Set(changed.map(({ type, id }) => `${type}:${id}`));
  return changes
    .filter(({ entity }) => names.has(entity))
    .map(({ entity, properties }) => ({ entity, properties }))
    .sort((left, right) => (left.entity < right.entity ? -1 : 1));
}

async function confirmed({ clock }: Parts, writer: RelationWriter, standing: SnapshotRow): Promise<SnapshotRow> {
  const at = clock();
  await writer.confirm(standing.version, at);
  return { ...standing, confirmedAtMs: at.getTime() };
}

type Next = {
  standing: SnapshotRow | null;
  changes: Record<string, PlainJson>;
  tupleCount: number;
  modelHash: Digest | null;
};

function nextSnapshot({ provider, clock, newUlid }: Parts, { standing, changes, ...counted }: Next): SnapshotRow {
  const nowMs = clock().getTime();
  const version = (standing?.version ?? 0) + 1;
  const previous = standing?.hash ?? null;
  const hash = digestOf(provider, canonicalBytes({ previous, version, changes })) as Digest; // as above
  return {
    id: `snp_${newUlid(nowMs)}` as SnapshotId, // within its schema
    ...{ version, hash, previousHash: previous, ...counted, createdAtMs: nowMs, confirmedAtMs: nowMs },
  };
}

function nameOf({ object, relation, subject }: RelationTuple): string {
  return `${object}#${relation}@${subject}`;
}
