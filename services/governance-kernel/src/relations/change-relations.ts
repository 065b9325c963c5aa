import { AppError, type Digest, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import type {
  EntityChange,
  EntityName,
  PermissionModel,
  RelationshipChanges,
  RelationTuple,
  TuplePrecondition,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, canonicalize, digestOf, parsePlainJson } from '@countersign/crypto';
import type { SettingParts } from '../policy/setting-statement.ts';
import { entityOf, type Entity, type KnownEntity } from './entity.ts';
import { RelationsMoved, writeSnapshot, type Standing } from './write-snapshot.ts';
import type { SnapshotRow } from './snapshot-view.ts';
import type { Turns } from './turns.ts';

/** The current relations of one tenant, read without a lock: the writer finds out whether they are still current. */
export type StandingRelations = {
  find(tenant: string): Promise<Standing>;
  /** The existing ones among these tuples. */
  listTuples(tenant: string, tuples: readonly RelationTuple[]): Promise<RelationTuple[]>;
  /** All tuples of one object with these relations. */
  listTuplesOf(tenant: string, object: EntityName, relations: readonly string[]): Promise<RelationTuple[]>;
  listProperties(tenant: string, entities: readonly Entity[]): Promise<KnownEntity[]>;
  /** False when another version stands. */
  confirm(tenant: string, version: number, at: Date): Promise<boolean>;
};

export type RelationWriting = SettingParts & { standingRelations: StandingRelations; relationTurns: Turns };

type Batch = RelationshipChanges & {
  tenant_id: TenantId;
  preconditions: readonly TuplePrecondition[];
  expected_version?: number | undefined;
};

type Changed = { snapshot: SnapshotRow; written: number; deleted: number; confirmed: boolean };

/** All of the batch or nothing, sealed. Throws INVALID_REQUEST where it says two things about one name, PRECONDITION_FAILED where it knows too little. */
export async function changeRelationships(parts: RelationWriting, by: PrincipalId, batch: Batch): Promise<Changed> {
  refuseContradictions(batch);
  const { tenant_id: tenant } = batch;
  return await whileItStands(parts, tenant, async (standing) => {
    await requireExpected(parts, batch, standing);
    return await writeChanges(parts, { tenant, by, standing, changes: await changesOf(parts, tenant, batch) });
  });
}

/** The new permissions on the tenant's entities, sealed. */
export function changePermissionModel(
  parts: RelationWriting,
  by: PrincipalId,
  { tenant, model }: { tenant: TenantId; model: PermissionModel },
): Promise<SnapshotRow> {
  const plain = parsePlainJson(model);
  const hash = digestOf(parts.provider, canonicalBytes(plain)) as Digest; // digestOf writes exactly this form
  const made = { tenant, by, changes: { model_hash: hash }, model: { hash, text: canonicalize(plain) } };
  const counted = { written: 0, deleted: 0, entities: 0 };
  return whileItStands(parts, tenant, async (standing) =>
    standing?.snapshot.modelHash === hash
      ? await confirmed(parts, tenant, standing)
      : await writeSnapshot(parts, { ...made, standing, counted }),
  );
}

type Writing = {
  tenant: TenantId;
  by: PrincipalId;
  standing: Standing;
  changes: RelationshipChanges;
  membersVersion?: number;
};

/** The next snapshot, or a confirmation of the one that stands, where nothing of it changes. Throws RelationsMoved. */
export async function writeChanges(parts: RelationWriting, writing: Writing): Promise<Changed> {
  const { tenant, standing, changes, membersVersion = 0 } = writing;
  const [written, deleted, entities] = [changes.writes.length, changes.deletes.length, changes.entities.length];
  const isKnown = written + deleted + entities === 0 && membersVersion <= (standing?.head.membersVersion ?? 0);
  if (standing !== null && isKnown)
    return { snapshot: await confirmed(parts, tenant, standing), written, deleted, confirmed: true };
  const snapshot = await writeSnapshot(parts, { ...writing, counted: { written, deleted, entities } });
  return { snapshot, written, deleted, confirmed: false };
}

/**
 * Other kernels write as well, and of those that do so at once one wins. More failures in a row than there are kernels.
 */
const attemptsMax = 50;

/** Tries until what was found out is what stands at the commit. Throws STORE_UNAVAILABLE where that never happens. */
export async function whileItStands<Result>(
  { standingRelations, relationTurns }: RelationWriting,
  tenant: TenantId,
  attempt: (standing: Standing) => Promise<Result>,
): Promise<Result> {
  return await relationTurns.take(tenant, async () => {
    for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
      try {
        return await attempt(await standingRelations.find(tenant));
      } catch (error) {
        if (!(error instanceof RelationsMoved)) throw error;
      }
    }
    throw new AppError('STORE_UNAVAILABLE', 'The relations keep changing', { headers: { 'retry-after': '1' } });
  });
}

/** A batch has no order, so a name may be in it once. */
function refuseContradictions({ writes, deletes, entities }: Batch): void {
  const gone = new Set(deletes.map(nameOf));
  const both = writes.find((tuple) => gone.has(nameOf(tuple)));
  if (both !== undefined)
    throw new AppError('INVALID_REQUEST', `${nameOf(both)} is to be written and deleted`, { param: 'writes' });
  if (new Set(entities.map(({ entity }) => entity)).size !== entities.length)
    throw new AppError('INVALID_REQUEST', 'An entity is named twice', { param: 'entities' });
}

async function requireExpected(parts: RelationWriting, batch: Batch, standing: Standing): Promise<void> {
  const version = standing?.head.version ?? 0;
  if (batch.expected_version !== undefined && batch.expected_version !== version)
    throw new AppError('PRECONDITION_FAILED', `The version is ${version}`, {
      param: 'expected_version',
      details: { version },
    });
  const tuples = batch.preconditions.map(({ exists: _, ...tuple }) => tuple);
  const there = new Set((await parts.standingRelations.listTuples(batch.tenant_id, tuples)).map(nameOf));
  const failed = batch.preconditions.find((one) => there.has(nameOf(one)) !== one.exists);
  if (failed === undefined) return;
  const said = `${nameOf(failed)} is ${failed.exists ? 'not there' : 'there'}`;
  throw new AppError('PRECONDITION_FAILED', said, { param: 'preconditions', details: { version } });
}

/** The effective changes of the batch, in the order of names. */
export async function changesOf(
  { standingRelations }: RelationWriting,
  tenant: TenantId,
  batch: RelationshipChanges,
): Promise<RelationshipChanges> {
  const named = [...batch.writes, ...batch.deletes];
  const there = new Set((await standingRelations.listTuples(tenant, named)).map(nameOf));
  const known = await standingRelations.listProperties(
    tenant,
    batch.entities.map(({ entity }) => entityOf(entity)),
  );
  const properties = new Map(known.map((entity) => [`${entity.type}:${entity.id}`, entity.properties]));
  return {
    writes: byName(batch.writes.filter((tuple) => !there.has(nameOf(tuple)))),
    deletes: byName(batch.deletes.filter((tuple) => there.has(nameOf(tuple)))),
    entities: batch.entities
      .filter((change) => !isSame(properties.get(change.entity), change))
      .sort((left, right) => (left.entity < right.entity ? -1 : 1)),
  };
}

function isSame(known: Record<string, PlainJson> | undefined, { properties }: EntityChange): boolean {
  if (known === undefined || properties === null) return known === undefined && properties === null;
  return canonicalize(known) === canonicalize(properties);
}

/** Each once. */
function byName(tuples: readonly RelationTuple[]): RelationTuple[] {
  const named = new Map(tuples.map((tuple) => [nameOf(tuple), tuple]));
  return [...named.keys()].sort().flatMap((name) => named.get(name) ?? []);
}

async function confirmed(
  { standingRelations, clock }: RelationWriting,
  tenant: TenantId,
  { snapshot }: NonNullable<Standing>,
): Promise<SnapshotRow> {
  const at = clock();
  if (!(await standingRelations.confirm(tenant, snapshot.version, at))) throw new RelationsMoved();
  return { ...snapshot, confirmedAtMs: at.getTime() };
}

function nameOf({ object, relation, subject }: RelationTuple): string {
  return `${object}#${relation}@${subject}`;
}
