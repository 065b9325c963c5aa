import { z } from 'zod';
import { ApiKeyEnvironment, ApiKeyScope, defaultKeyScopes } from '../api-key-terms.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApiKeyId, Instant, storableText, UserId, WorkspaceId } from '../scalars.ts';
import { PathId, Role, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** A key does no act of an owner. */
export const ApiKeyRole = Role.exclude(['owner']);
export type ApiKeyRole = z.infer<typeof ApiKeyRole>;

export { ApiKeyScope };

export const ApiKeyScopes = z
  .array(ApiKeyScope)
  .min(1)
  .max(ApiKeyScope.options.length)
  .refine((scopes) => new Set(scopes).size === scopes.length, 'must name each scope once');

export const ApiKey = z.strictObject({
  id: ApiKeyId,
  workspaceId: WorkspaceId,
  name: z.string(),
  /** The beginning of the secret, to tell keys apart. */
  prefix: z.string(),
  /** Or the maker's own role, while that is lower. */
  role: ApiKeyRole,
  scopes: ApiKeyScopes,
  /** `null` when the key was made for the workspace as a whole. It never changes. */
  environment: ApiKeyEnvironment.nullable(),
  /** The owner of the key, which ends with this person's membership. */
  createdBy: UserId,
  createdAt: Instant,
  expiresAt: Instant,
  /** To about a minute; null: never. */
  lastUsedAt: Instant.nullable(),
  revokedAt: Instant.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const createApiKey = defineRoute({
  operation: 'create-api-key',
  summary: 'Make a key for one workspace. The key is in this answer and nowhere else.',
  method: 'POST',
  path: '/api/auth/apikey',
  auth: 'member',
  right: 'own_key.manage',
  idempotency: { exempt: 'secret' },
  needsPresence: true,
  sessionOnly: true,
  status: 201,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({
    ...WorkspaceBody,
    name: storableText({ min: 1, max: 100 }).default('default'),
    role: ApiKeyRole.default('member'),
    scopes: ApiKeyScopes.default([...defaultKeyScopes]),
    /** The principal of the key names it. Absent: the key is of the workspace as a whole. */
    environment: ApiKeyEnvironment.optional(),
    expiresInDays: z.int().min(1).max(365).default(90),
    /** A key that this one takes the place of: it lives on for a day at most, so that its users can change over. */
    replaces: z.string().min(1).max(128).optional(),
  }),
  reply: ApiKey.extend({ key: z.string() }),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'RATE_LIMITED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listApiKeys = defineRoute({
  operation: 'list-api-keys',
  summary: "One's own keys of the workspace, newest first; an owner sees everybody's.",
  method: 'GET',
  path: '/api/auth/apikey',
  auth: 'member',
  right: 'own_key.manage',
  keyScopes: ['read', 'basic:read'],
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(ApiKey),
  errors: ['NOT_FOUND', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const revokeApiKey = defineRoute({
  operation: 'revoke-api-key',
  summary: "End one of one's own keys at once; an owner ends any key.",
  method: 'DELETE',
  path: '/api/auth/apikey/{id}',
  auth: 'member',
  right: 'own_key.manage',
  idempotency: { exempt: 'repeatable' },
  sessionOnly: true,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: z.strictObject({ ok: z.literal(true) }),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});
