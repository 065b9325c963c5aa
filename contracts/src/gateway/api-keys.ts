import { z } from 'zod';
import { ApiKeyEnvironment, ApiKeyScope, defaultKeyScopes } from '../api-key-terms.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { ApiKeyId, Instant, storableText, UserId, WorkspaceId } from '../scalars.ts';
import { PathId, Role, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** API keys have no owner role. */
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
  /** The beginning of the secret, to identify the key. */
  prefix: z.string(),
  /** The role of the key. While the creator's role is lower, the key has the creator's role. */
  role: ApiKeyRole,
  scopes: ApiKeyScopes,
  /** The environment of the key, which never changes. `null` for keys of the whole workspace. */
  environment: ApiKeyEnvironment.nullable(),
  /** The owner of the key. The key ends when this person leaves the workspace. */
  createdBy: UserId,
  createdAt: Instant,
  expiresAt: Instant,
  /** When the key was last used, to about a minute. `null` when it was never used. */
  lastUsedAt: Instant.nullable(),
  revokedAt: Instant.nullable(),
});
export type ApiKey = z.infer<typeof ApiKey>;

export const createApiKey = defineRoute({
  operation: 'create-api-key',
  summary: 'Create an API key for one workspace. The key is returned only once.',
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
    /** The environment, which becomes part of the key's principal. Absent: the key is for the whole workspace. */
    environment: ApiKeyEnvironment.optional(),
    expiresInDays: z.int().min(1).max(365).default(90),
    /** The key that the new key replaces. The replaced key works for one more day at most. */
    replaces: z.string().min(1).max(128).optional(),
  }),
  reply: ApiKey.extend({
    /** The secret key. It is returned only once. */
    key: z.string(),
  }),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'RATE_LIMITED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listApiKeys = defineRoute({
  operation: 'list-api-keys',
  summary: "List the person's own API keys of the workspace, newest first. Owners see all keys.",
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
  summary: "Revoke one of the person's own API keys immediately. Owners can revoke any key.",
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
