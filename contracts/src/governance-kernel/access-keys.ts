import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute, Door } from '../route.ts';
import { AccessKeyId, Instant, PrincipalId, ToolName } from '../scalars.ts';

const TenantQuery = { tenant_id: z.string().optional() };

export const AccessKeyKind = z.enum(['agent', 'approver']);

const Tools = z.array(ToolName).min(1).max(200);
export const NewAccessKey = z
  .strictObject({
    /** `approver`: for a person who decides approvals, and for nothing else. */
    kind: AccessKeyKind,
    /** The bearer of the key is this principal, regardless of what its request states. */
    principal_id: PrincipalId,
    expires_in_days: z.int().min(1).max(365).default(90),
    /** For a key of an agent; all but `authzen` when it names none. */
    doors: z.array(Door).min(1).max(Door.options.length).optional(),
    /** For a key of an agent: the key calls these tools and no others. */
    tools: Tools.optional(),
  })
  .refine(({ kind, doors }) => kind === 'agent' || doors === undefined, {
    path: ['doors'],
    message: 'an approver opens no door',
  })
  .refine(({ kind, tools }) => kind === 'agent' || tools === undefined, {
    path: ['tools'],
    message: 'an approver calls no tool',
  });
export type NewAccessKey = z.infer<typeof NewAccessKey>;

export const AccessKey = z.strictObject({
  key_id: AccessKeyId,
  kind: AccessKeyKind,
  principal_id: PrincipalId,
  /** The beginning of the secret, to tell keys apart. */
  prefix: z.string(),
  doors: z.array(Door),
  /** Null: every tool. */
  tools: Tools.nullable(),
  expires_at: Instant,
  created_at: Instant,
  created_by: PrincipalId,
  /** To about ten seconds; null: never. */
  last_used_at: Instant.nullable(),
  revoked_at: Instant.nullable(),
});
export type AccessKey = z.infer<typeof AccessKey>;

export const createAccessKey = defineRoute({
  operation: 'create-access-key',
  summary:
    'Make a key for an agent or an approver; an owner, by the gateway, for an agent alone. The secret is in this answer and nowhere else.',
  method: 'POST',
  path: '/api/v1/access-keys',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'agent_key.manage', sessionOnly: true, needsPresence: true, needsSettings: true },
  idempotency: { exempt: 'secret' },
  assertedBy: ['owner'],
  query: z.strictObject(TenantQuery),
  body: NewAccessKey,
  status: 201,
  reply: z.strictObject({ ...AccessKey.shape, key: z.string() }),
  errors: ['PERMISSION_DENIED'],
});

export const listAccessKeys = defineRoute({
  operation: 'list-access-keys',
  summary: 'Keys of the tenant, newest first, also those that have ended.',
  method: 'GET',
  path: '/api/v1/access-keys',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'agent_key.manage' },
  assertedBy: ['owner'],
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(AccessKey),
});

export const revokeAccessKey = defineRoute({
  operation: 'revoke-access-key',
  summary: 'End a key for good. The next decision of every kernel sees it.',
  method: 'DELETE',
  path: '/api/v1/access-keys/{key_id}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'agent_key.manage', sessionOnly: true },
  idempotency: { exempt: 'repeatable' },
  assertedBy: ['owner'],
  params: z.strictObject({ key_id: AccessKeyId }),
  query: z.strictObject(TenantQuery),
  reply: AccessKey,
  errors: ['NOT_FOUND'],
});
