import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute, Door } from '../route.ts';
import { AccessKeyId, Instant, PrincipalId, ToolName } from '../scalars.ts';

const TenantQuery = { tenant_id: z.string().optional() };

export const AccessKeyKind = z.enum(['agent', 'approver']);

const Tools = z.array(ToolName).min(1).max(200);
export const NewAccessKey = z
  .strictObject({
    /** `approver`: only for a person who decides approvals. */
    kind: AccessKeyKind,
    /** The bearer of the key is this principal, regardless of what its request states. */
    principal_id: PrincipalId,
    expires_in_days: z.int().min(1).max(365).default(90),
    /** For a key of an agent. Without it, the key has all scopes but `authzen`. */
    doors: z.array(Door).min(1).max(Door.options.length).optional(),
    /** For a key of an agent: the only tools that the key can call. */
    tools: Tools.optional(),
  })
  .refine(({ kind, doors }) => kind === 'agent' || doors === undefined, {
    path: ['doors'],
    message: 'must not be set for the key of an approver',
  })
  .refine(({ kind, tools }) => kind === 'agent' || tools === undefined, {
    path: ['tools'],
    message: 'must not be set for the key of an approver',
  });
export type NewAccessKey = z.infer<typeof NewAccessKey>;

export const AccessKey = z.strictObject({
  key_id: AccessKeyId,
  kind: AccessKeyKind,
  principal_id: PrincipalId,
  /** The beginning of the secret, to identify the key. */
  prefix: z.string(),
  doors: z.array(Door),
  /** `null` for all tools. */
  tools: Tools.nullable(),
  expires_at: Instant,
  created_at: Instant,
  created_by: PrincipalId,
  /** When the key was last used, to about ten seconds. `null` when it was never used. */
  last_used_at: Instant.nullable(),
  revoked_at: Instant.nullable(),
});
export type AccessKey = z.infer<typeof AccessKey>;

export const createAccessKey = defineRoute({
  operation: 'create-access-key',
  summary:
    'Create a key for an agent or an approver. Through the gateway, owners create keys for agents only. The ' +
    'secret is returned only once.',
  method: 'POST',
  path: '/api/v1/access-keys',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'agent_key.manage', sessionOnly: true, needsPresence: true, needsSettings: true },
  idempotency: { exempt: 'secret' },
  assertedBy: ['owner'],
  query: z.strictObject(TenantQuery),
  body: NewAccessKey,
  status: 201,
  reply: z.strictObject({
    ...AccessKey.shape,
    /** The secret key. It is returned only once. */
    key: z.string(),
  }),
  errors: ['PERMISSION_DENIED'],
});

export const listAccessKeys = defineRoute({
  operation: 'list-access-keys',
  summary: 'List the access keys of the tenant, newest first, including ended ones.',
  method: 'GET',
  path: '/api/v1/access-keys',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'agent_key.manage' },
  // Partners are included because a partner who disables a connector also ends the keys of its shims.
  assertedBy: ['owner', 'partner'],
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(AccessKey),
});

export const revokeAccessKey = defineRoute({
  operation: 'revoke-access-key',
  summary: 'Revoke an access key permanently. It takes effect on the next decision of every kernel.',
  method: 'DELETE',
  path: '/api/v1/access-keys/{key_id}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'agent_key.manage', sessionOnly: true },
  idempotency: { exempt: 'repeatable' },
  // Partners are included because a partner who disables a connector also ends the keys of its shims.
  assertedBy: ['owner', 'partner'],
  params: z.strictObject({ key_id: AccessKeyId }),
  query: z.strictObject(TenantQuery),
  reply: AccessKey,
  errors: ['NOT_FOUND'],
});
