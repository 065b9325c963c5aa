import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, PlainObject, SnapshotId, TenantId, type PlainJson } from '../scalars.ts';
import { EntityName, EntityType, RelationName, RelationTuple, SubjectName } from './relation-names.ts';

const TenantQuery = { tenant_id: z.string().optional() };

/** The most changes of one batch. Its writes take less than 50 ms of one process. */
const changesMax = 2_000;
const preconditionsMax = 100;
const propertiesBytesMax = 4_096;
/** The most types of a model, so that a person can read it. */
const typesMax = 100;
const permissionsMax = 100;

const EntityProperties = PlainObject.refine(
  (properties) => JSON.stringify(properties).length <= propertiesBytesMax,
  `must have at most ${propertiesBytesMax} characters of JSON`,
).refine((properties) => !holdsNul(properties), 'must not contain NUL');

/** The only character that PostgreSQL cannot store. */
function holdsNul(value: PlainJson): boolean {
  if (typeof value === 'string') return value.includes('\u0000');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes('\u0000') || holdsNul(member));
}

/** An entity with its properties. `null` properties delete the entity. */
export const EntityChange = z.strictObject({ entity: EntityName, properties: EntityProperties.nullable() });
export type EntityChange = z.infer<typeof EntityChange>;

/** A condition that the tuple exists (`exists: true`) or does not exist (`exists: false`). */
export const TuplePrecondition = z.strictObject({ ...RelationTuple.shape, exists: z.boolean() });
export type TuplePrecondition = z.infer<typeof TuplePrecondition>;

export const RelationshipChanges = z.strictObject({
  /** The tuples to write. */
  writes: z.array(RelationTuple).default([]),
  deletes: z.array(RelationTuple).default([]),
  entities: z.array(EntityChange).default([]),
});
export type RelationshipChanges = z.infer<typeof RelationshipChanges>;

/**
 * The changes of a tenant's relations from one version to the next. `snapshot_hash` is the SHA-256 of the canonical
 * JSON (RFC 8785) of `{ previous, version, changes }`, so it covers all earlier changes.
 */
export const RelationSnapshot = z.strictObject({
  snapshot_id: SnapshotId,
  version: z.int().min(1),
  snapshot_hash: Digest,
  /** `null` in the first snapshot. */
  previous_hash: Digest.nullable(),
  tuple_count: z.int().min(0),
  /** The hash of the permissions; `null` when none are set. */
  model_hash: Digest.nullable(),
  created_at: Instant,
  /** The time of the last confirmation by its writer. */
  confirmed_at: Instant,
  /**
   * After this time, calls whose decision reads relations are denied. A later snapshot or a confirmation extends it.
   */
  fresh_until: Instant,
});
export type RelationSnapshot = z.infer<typeof RelationSnapshot>;

/** CEL over relations, subject, resource, action and context. */
const Permission = z.string().min(1).max(4_096);

/** The actions that are permitted on entities of each type, by name. */
export const PermissionModel = z.strictObject({
  types: z
    .record(
      EntityType,
      z.strictObject({
        permissions: z
          .record(z.string().min(1).max(128), Permission)
          .refine((all) => Object.keys(all).length <= permissionsMax, `may name at most ${permissionsMax} permissions`),
      }),
    )
    .refine((types) => Object.keys(types).length <= typesMax, `may name at most ${typesMax} types`),
});
export type PermissionModel = z.infer<typeof PermissionModel>;

export const writeRelationships = defineRoute({
  operation: 'write-relationships',
  summary:
    'Change the tuples and entities of a tenant in one transaction. A change creates a snapshot. A request ' +
    'without changes confirms the current one. A failed precondition returns 412.',
  method: 'POST',
  path: '/internal/relationships',
  auth: 'service_internal',
  idempotency: 'key',
  body: z
    .strictObject({
      tenant_id: TenantId,
      ...RelationshipChanges.shape,
      /** Tuples that must exist, or must not exist, before the change. */
      preconditions: z.array(TuplePrecondition).max(preconditionsMax).default([]),
      /**
       * The version that the writer expects, or 0 when there is none. If the current version differs, the answer is
       * 412.
       */
      expected_version: z.int().min(0).optional(),
    })
    .refine(
      ({ writes, deletes, entities }) => writes.length + deletes.length + entities.length <= changesMax,
      `may have at most ${changesMax} changes`,
    ),
  reply: z.strictObject({
    ...RelationSnapshot.shape,
    written: z.int(),
    deleted: z.int(),
    /** `true` when the request changed nothing and only confirmed the snapshot. */
    confirmed: z.boolean(),
  }),
  bodyBytesMax: 4_194_304,
  errors: ['INVALID_REQUEST', 'PRECONDITION_FAILED'],
});

/** The most tuples of one subject that one answer shows. */
export const subjectTuplesMax = 200;

export const listSubjectRelations = defineRoute({
  operation: 'list-subject-relations',
  summary: 'List the tuples of a tenant that name this exact subject. Relations through groups are not included.',
  method: 'GET',
  path: '/internal/relationships/{tenant}',
  auth: 'service_internal',
  params: z.strictObject({ tenant: TenantId }),
  query: z.strictObject({ subject: SubjectName }),
  reply: z.strictObject({ data: z.array(RelationTuple).max(subjectTuplesMax), more: z.boolean() }),
});

export const putPermissionModel = defineRoute({
  operation: 'put-permission-model',
  summary:
    'Set the permission model of a tenant: CEL conditions by type and action. It is part of the snapshot. ' +
    'Repeating the same model confirms the snapshot.',
  method: 'PUT',
  path: '/internal/authz/model/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: PermissionModel,
  reply: RelationSnapshot,
  errors: ['INVALID_REQUEST'],
});

/** Why a negative check may be wrong. */
export const CheckReason = z.enum(['AUTHZ_SNAPSHOT_STALE', 'WORK_EXCEEDED']);

export const checkRelation = defineRoute({
  operation: 'check-relation',
  summary:
    'Check whether the subject has the relation, directly or through groups, and return the path. A stale or ' +
    'missing snapshot, or too large a search, returns false with a reason.',
  method: 'POST',
  path: '/api/v1/authz/check',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'reads' },
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ object: EntityName, relation: RelationName, subject: SubjectName }),
  reply: z.strictObject({
    decision: z.boolean(),
    snapshot_id: SnapshotId.nullable(),
    snapshot_hash: Digest.nullable(),
    /** The relations that lead from the object to the subject, each as `object#relation@subject`. */
    path: z.array(z.string()),
    /** Why a negative result may be wrong, as a code. `null` otherwise. */
    reason: CheckReason.nullable(),
    checked_at: Instant,
  }),
});

export const getAuthzHealth = defineRoute({
  operation: 'get-authz-health',
  summary: "Get the relation snapshot that the tenant's decisions read now, and whether it is fresh.",
  method: 'GET',
  path: '/api/v1/authz/health',
  auth: 'tenant_scoped',
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    status: z.enum(['ready', 'stale', 'missing']),
    snapshot: RelationSnapshot.nullable(),
    /** The time for which a confirmed snapshot is fresh, in seconds. */
    age_max_seconds: z.number(),
    checked_at: Instant,
  }),
});

export const listRelationSnapshots = defineRoute({
  operation: 'list-relation-snapshots',
  summary: 'List the relation snapshots of the tenant, newest first. The last 256 are kept.',
  method: 'GET',
  path: '/api/v1/authz/snapshots',
  auth: 'tenant_scoped',
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(RelationSnapshot),
});

export const getRelationSnapshot = defineRoute({
  operation: 'get-relation-snapshot',
  summary: 'Get a relation snapshot with its changes, which its hash covers.',
  method: 'GET',
  path: '/api/v1/authz/snapshots/{snapshot_id}',
  auth: 'tenant_scoped',
  params: z.strictObject({ snapshot_id: SnapshotId }),
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({ ...RelationSnapshot.shape, changes: z.record(z.string(), z.json()) }),
  errors: ['NOT_FOUND'],
});
