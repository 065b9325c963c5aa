import { sha256Of, AppError, type PlainJson, type PrincipalId, type TenantId } from '@countersign/contracts';
import type {
  EntityChange,
  EntityName,
  PermissionModel,
  RelationshipChanges,
  RelationTuple,
  TuplePrecondition,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, canonicalize, parsePlainJson } from '@countersign/crypto';
import type { SettingDeps } from '../policy/setting-statement.ts';
import { entityOf, type Entity, type KnownEntity } from './entity.ts';
import { RelationsMoved, writeSnapshot, type CurrentState } from './write-snapshot.ts';
import type { SnapshotRow } from './snapshot-view.ts';
import type { Turns } from './turns.ts';

/**
 * Reads a tenant's current relations without a lock. Writers check at the commit that the relations are still current.
 */
export type StandingRelations = {
  find(tenant: string): Promise<CurrentState>;
  /** The tuples among these that exist. */
  listTuples(tenant: string, tuples: readonly RelationTuple[]): Promise<RelationTuple[]>;
  /** All tuples of one object with these relations. */
  listTuplesOf(tenant: string, object: EntityName, relations: readonly string[]): Promise<RelationTuple[]>;
  listProperties(tenant: string, entities: readonly Entity[]): Promise<KnownEntity[]>;
  /** `false` when another version is current. */
  confirm(tenant: string, version: number, at: Date): Promise<boolean>;
};

export type RelationWriting = SettingDeps & { standingRelations: StandingRelations; relationTurns: Turns };

type Batch = RelationshipChanges & {
  tenant_id: TenantId;
  preconditions: readonly TuplePrecondition[];
  expected_version?: number | undefined;
};

type Changed = { snapshot: SnapshotRow; written: number; deleted: number; confirmed: boolean };

/**
 * Applies the whole batch or nothing, sealed. Throws INVALID_REQUEST when it contradicts itself, and
 * PRECONDITION_FAILED when its preconditions do not hold.
 */
export async function changeRelationships(deps: RelationWriting, by: PrincipalId, batch: Batch): Promise<Changed> {
  refuseContradictions(batch);
  const { tenant_id: tenant } = batch;
  return await whileItStands(deps, tenant, async (current) => {
    await requireExpected(deps, batch, current);
    return await writeChanges(deps, { tenant, by, current, changes: await changesOf(deps, tenant, batch) });
  });
}

/** Sets the permissions on the tenant's entities, sealed. */
export function changePermissionModel(
  deps: RelationWriting,
  by: PrincipalId,
  { tenant, model }: { tenant: TenantId; model: PermissionModel },
): Promise<SnapshotRow> {
  const plain = parsePlainJson(model);
  const hash = sha256Of(deps.provider, canonicalBytes(plain));
  const made = { tenant, by, changes: { model_hash: hash }, model: { hash, text: canonicalize(plain) } };
  const counted = { written: 0, deleted: 0, entities: 0 };
  return whileItStands(deps, tenant, async (current) =>
    current?.snapshot.modelHash === hash
      ? await confirmed(deps, tenant, current)
      : await writeSnapshot(deps, { ...made, current, counted }),
  );
}

type Writing = {
  tenant: TenantId;
  by: PrincipalId;
  current: CurrentState;
  changes: RelationshipChanges;
  membersVersion?: number;
};

/** Writes the next snapshot, or confirms the current one when nothing changes. Throws RelationsMoved. */
export async function writeChanges(deps: RelationWriting, writing: Writing): Promise<Changed> {
  const { tenant, current, changes, membersVersion = 0 } = writing;
  const [written, deleted, entities] = [changes.writes.length, changes.deletes.length, changes.entities.length];
  const isKnown = written + deleted + entities === 0 && membersVersion <= (current?.head.membersVersion ?? 0);
  if (current !== null && isKnown)
    return { snapshot: await confirmed(deps, tenant, current), written, deleted, confirmed: true };
  const snapshot = await writeSnapshot(deps, { ...writing, counted: { written, deleted, entities } });
  return { snapshot, written, deleted, confirmed: false };
}

/**
 * The limit of attempts. In each round, one of the kernels that write at once succeeds. There are fewer kernels than
 * attempts.
 */
const attemptsMax = 50;

/** Repeats until the state that was read is current at the commit. Throws STORE_UNAVAILABLE when that never happens. */
export async function whileItStands<Result>(
  { standingRelations, relationTurns }: RelationWriting,
  tenant: TenantId,
  attempt: (current: CurrentState) => Promise<Result>,
): Promise<Result> {
  return await relationTurns.take(tenant, async () => {
    for (let attempts = 0; attempts < attemptsMax; attempts += 1) {
      try {
        return await attempt(await standingRelations.find(tenant));
      } catch (error) {
        if (!(error instanceof RelationsMoved)) throw error;
      }
    }
    throw new AppError('STORE_UNAVAILABLE', 'The relations changed too often during the request. Try again', {
      headers: { 'retry-after': '1' },
    });
  });
}

/** A batch has no order, so each name may occur once. */
function refuseContradictions({ writes, deletes, entities }: Batch): void {
  const gone = new Set(deletes.map(nameOf));
  const both = writes.find((tuple) => gone.has(nameOf(tuple)));
  if (both !== undefined)
    throw new AppError('INVALID_REQUEST', `${nameOf(both)} is both written and deleted. Remove one of them`, {
      param: 'writes',
    });
  if (new Set(entities.map(({ entity }) => entity)).size !== entities.length)
    throw new AppError('INVALID_REQUEST', 'entities contains an entity twice. Remove one of them', {
      param: 'entities',
    });
}

async function requireExpected(deps: RelationWriting, batch: Batch, current: CurrentState): Promise<void> {
  const version = current?.head.version ?? 0;
  if (batch.expected_version !== undefined && batch.expected_version !== version)
    throw new AppError('PRECONDITION_FAILED', `The version is ${version}`, {
      param: 'expected_version',
      details: { version },
    });
  const tuples = batch.preconditions.map(({ exists: _, ...tuple }) => tuple);
  const there = new Set((await deps.standingRelations.listTuples(batch.tenant_id, tuples)).map(nameOf));
  const failed = batch.preconditions.find((one) => there.has(nameOf(one)) !== one.exists);
  if (failed === undefined) return;
  const text = `${nameOf(failed)} ${failed.exists ? 'does not exist' : 'exists'}`;
  throw new AppError('PRECONDITION_FAILED', text, { param: 'preconditions', details: { version } });
}

/** The effective changes of the batch, sorted by name. */
export async function changesOf(
  { standingRelations }: RelationWriting,
  tenant: TenantId,
  batch: RelationshipChanges,
): Promise<RelationshipChanges> {
  const named = [...batch.writes, ...batch.deletes];
  const there = new Set((await standingRelations.listTuples(tenant, named)).map(nameOf));
  const existing = await standingRelations.listProperties(
    tenant,
    batch.entities.map(({ entity }) => entityOf(entity)),
  );
  const properties = new Map(existing.map((entity) => [`${entity.type}:${entity.id}`, entity.properties]));
  return {
    writes: byName(batch.writes.filter((tuple) => !there.has(nameOf(tuple)))),
    deletes: byName(batch.deletes.filter((tuple) => there.has(nameOf(tuple)))),
    entities: batch.entities
      .filter((change) => !isSame(properties.get(change.entity), change))
      .sort((left, right) => (left.entity < right.entity ? -1 : 1)),
  };
}

function isSame(existing: Record<string, PlainJson> | undefined, { properties }: EntityChange): boolean {
  if (existing === undefined || properties === null) return existing === undefined && properties === null;
  return canonicalize(existing) === canonicalize(properties);
}

/** Sorts by name and removes duplicates. */
function byName(tuples: readonly RelationTuple[]): RelationTuple[] {
  const named = new Map(tuples.map((tuple) => [nameOf(tuple), tuple]));
  return [...named.keys()].sort().flatMap((name) => named.get(name) ?? []);
}

async function confirmed(
  { standingRelations, clock }: RelationWriting,
  tenant: TenantId,
  { snapshot }: NonNullable<CurrentState>,
): Promise<SnapshotRow> {
  const at = clock();
  if (!(await standingRelations.confirm(tenant, snapshot.version, at))) throw new RelationsMoved();
  return { ...snapshot, confirmedAtMs: at.getTime() };
}

function nameOf({ object, relation, subject }: RelationTuple): string {
  return `${object}#${relation}@${subject}`;
}
