import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, Instant, PlainObject, SnapshotId, TenantId, type PlainJson } from '../scalars.ts';
import { EntityName, EntityType, RelationName, RelationTuple, SubjectName } from './relation-names.ts';

const TenantQuery = { tenant_id: z.string().optional() };

/** One batch: what is written of it stays below a twentieth of a second of one process. */
const changesMax = 2_000;
const preconditionsMax = 100;
const propertiesBytesMax = 4_096;
/** A page of the model that a person can still read. */
const typesMax = 100;
const permissionsMax = 100;

const EntityProperties = PlainObject.refine(
  (properties) => JSON.stringify(properties).length <= propertiesBytesMax,
  `must have at most ${propertiesBytesMax} characters of JSON`,
).refine((properties) => !holdsNul(properties), 'must not contain NUL');

/** The one character that PostgreSQL cannot hold. */
function holdsNul(value: PlainJson): boolean {
  if (typeof value === 'string') return value.includes('\u0000');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, member]) => name.includes('\u0000') || holdsNul(member));
}

/** An entity with what is known of it; properties null: it is forgotten. */
export const EntityChange = z.strictObject({ entity: EntityName, properties: EntityProperties.nullable() });
export type EntityChange = z.infer<typeof EntityChange>;

/** Holds when the tuple is there (`exists`), or is not. */
export const TuplePrecondition = z.strictObject({ ...RelationTuple.shape, exists: z.boolean() });
export type TuplePrecondition = z.infer<typeof TuplePrecondition>;

export const RelationshipChanges = z.strictObject({
  writes: z.array(RelationTuple).default([]),
  deletes: z.array(RelationTuple).default([]),
  entities: z.array(EntityChange).default([]),
});
export type RelationshipChanges = z.infer<typeof RelationshipChanges>;

/**
 * The changes of a tenant's relations from one version to the next. `snapshot_hash` is the SHA-256 of the canonical
 * JSON (RFC 8785) of `{ previous, version, changes }`, so a snapshot names everything that led to it.
 */
export const RelationSnapshot = z.strictObject({
  snapshot_id: SnapshotId,
  version: z.int().min(1),
  snapshot_hash: Digest,
  /** Null: there was none before. */
  previous_hash: Digest.nullable(),
  tuple_count: z.int().min(0),
  /** The hash of the permissions; `null` when none are set. */
  model_hash: Digest.nullable(),
  created_at: Instant,
  /** When its writer last said that it holds. */
  confirmed_at: Instant,
  /** From then on nothing that reads relations is allowed; a later snapshot, or a confirmation, puts it off. */
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
          .refine((all) => Object.keys(all).length <= permissionsMax, `may name ${permissionsMax} permissions`),
      }),
    )
    .refine((types) => Object.keys(types).length <= typesMax, `may name ${typesMax} types`),
});
export type PermissionModel = z.infer<typeof PermissionModel>;

export const writeRelationships = defineRoute({
  operation: 'write-relationships',
  summary:
    "Change a tenant's relations, all or nothing: tuples to write and delete, and the known entities. A change makes " +
    'a new snapshot; a request without a change confirms the current one. A precondition that does not hold is 412.',
  method: 'POST',
  path: '/internal/relationships',
  auth: 'service_internal',
  idempotency: 'key',
  body: z
    .strictObject({
      tenant_id: TenantId,
      ...RelationshipChanges.shape,
      preconditions: z.array(TuplePrecondition).max(preconditionsMax).default([]),
      /** The version that the writer knows; 0: there is none. Another one is 412. */
      expected_version: z.int().min(0).optional(),
    })
    .refine(
      ({ writes, deletes, entities }) => writes.length + deletes.length + entities.length <= changesMax,
      `may hold ${changesMax} changes`,
    ),
  reply: z.strictObject({
    ...RelationSnapshot.shape,
    written: z.int(),
    deleted: z.int(),
    /** Nothing changed. */
    confirmed: z.boolean(),
  }),
  bodyBytesMax: 4_194_304,
  errors: ['INVALID_REQUEST', 'PRECONDITION_FAILED'],
});

/** The most tuples of one subject that one answer shows. */
export const subjectTuplesMax = 200;

export const listSubjectRelations = defineRoute({
  operation: 'list-subject-relations',
  summary: 'Tuples of a tenant that name this very subject: what relations give to it, but for what groups do.',
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
    "Set what may be done to a tenant's entities: CEL over relations, properties and context, by type and action. It is a part of the " +
    'snapshot; the same model again confirms it.',
  method: 'PUT',
  path: '/internal/authz/model/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: PermissionModel,
  reply: RelationSnapshot,
  errors: ['INVALID_REQUEST'],
});

/** Why a check that found nothing may have missed something. */
export const CheckReason = z.enum(['AUTHZ_SNAPSHOT_STALE', 'WORK_EXCEEDED']);

export const checkRelation = defineRoute({
  operation: 'check-relation',
  summary:
    'Whether the subject has the relation, through groups as well, with the tuples that say so. A snapshot that is stale or missing, and ' +
    'a search that grows too large, answer false with a reason.',
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
    /** From the object to the subject, each as `object#relation@subject`. */
    path: z.array(z.string()),
    reason: CheckReason.nullable(),
    checked_at: Instant,
  }),
});

export const getAuthzHealth = defineRoute({
  operation: 'get-authz-health',
  summary: "The snapshot that a tenant's decisions read now, and whether it is fresh.",
  method: 'GET',
  path: '/api/v1/authz/health',
  auth: 'tenant_scoped',
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    status: z.enum(['ready', 'stale', 'missing']),
    snapshot: RelationSnapshot.nullable(),
    /** How long a snapshot counts as fresh once it was confirmed. */
    age_max_seconds: z.number(),
    checked_at: Instant,
  }),
});

export const listRelationSnapshots = defineRoute({
  operation: 'list-relation-snapshots',
  summary: 'Snapshots of the tenant, newest first. The last 256 are kept.',
  method: 'GET',
  path: '/api/v1/authz/snapshots',
  auth: 'tenant_scoped',
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(RelationSnapshot),
});

export const getRelationSnapshot = defineRoute({
  operation: 'get-relation-snapshot',
  summary: 'A snapshot with the changes that made it, which its hash covers.',
  method: 'GET',
  path: '/api/v1/authz/snapshots/{snapshot_id}',
  auth: 'tenant_scoped',
  params: z.strictObject({ snapshot_id: SnapshotId }),
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({ ...RelationSnapshot.shape, changes: z.record(z.string(), z.json()) }),
  errors: ['NOT_FOUND'],
});
