import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, PrincipalId, TenantId } from '../scalars.ts';
import { KeyThumbprint } from './agent-token.ts';

const TenantQuery = { tenant_id: z.string().optional() };

/**
 * `agent`: a program that attempts actions. `operator`: a person who decides approvals. One principal may be enrolled
 * as both.
 */
export const IdentityKind = z.enum(['agent', 'operator']);
export type IdentityKind = z.infer<typeof IdentityKind>;

/** `revoked` is final for the principal and its keys. Use a fence for a temporary stop. */
export const IdentityState = z.enum(['active', 'revoked']);

/**
 * The most keys of an agent at a time. It needs one for each place where it runs, and another while that key is
 * replaced.
 */
export const identityKeysMax = 16;

/** An Ed25519 key with proof of possession. */
const IdentityKey = z.strictObject({
  kid: KeyThumbprint,
  created_at: Instant,
  created_by: PrincipalId,
});

export const Identity = z.strictObject({
  principal_id: PrincipalId,
  kind: IdentityKind,
  display_name: z.string(),
  state: IdentityState,
  /** Keys that are not revoked, oldest first. An operator has none. */
  keys: z.array(IdentityKey).max(identityKeysMax),
  enrolled_at: Instant,
  enrolled_by: PrincipalId,
  revoked_at: Instant.nullable(),
  revoked_by: PrincipalId.nullable(),
});
export type Identity = z.infer<typeof Identity>;

const list = { method: 'GET', auth: 'tenant_scoped', reply: page(Identity) } as const;
const ListQuery = z.strictObject({ ...TenantQuery, ...PageQuery });

export const listAgents = defineRoute({
  ...list,
  operation: 'list-agents',
  summary: 'List the enrolled agents of the tenant, newest first, including revoked ones.',
  path: '/api/v1/identity/agents',
  query: ListQuery,
});

export const listOperators = defineRoute({
  ...list,
  operation: 'list-operators',
  summary: 'List the enrolled operators of the tenant, newest first, including revoked ones.',
  path: '/api/v1/identity/operators',
  query: ListQuery,
});

/** Shown to people, so it contains no invisible characters and none that change the text direction. */
const DisplayName = z
  .string()
  .min(1)
  .max(200)
  .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must not contain control or format characters')
  .refine((name) => name.trim() === name, 'must not begin or end with a blank');

const Directory = z.enum(['agents', 'operators']);
const IdentityParams = z.strictObject({ directory: Directory, principal: PrincipalId });

export const putIdentity = defineRoute({
  operation: 'put-identity',
  summary: 'Enrol an agent or an operator, or change its display name. A revoked identity stays revoked.',
  method: 'PUT',
  path: '/api/v1/identity/{directory}/{principal}',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'repeatable' },
  params: IdentityParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ display_name: DisplayName }),
  reply: Identity,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const revokeIdentity = defineRoute({
  operation: 'revoke-identity',
  summary:
    'Revoke an agent or an operator permanently, with all its keys. The next decision denies the agent, even with ' +
    'an approval. An operator can no longer vote.',
  method: 'DELETE',
  path: '/api/v1/identity/{directory}/{principal}',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'repeatable' },
  params: IdentityParams,
  query: z.strictObject(TenantQuery),
  reply: Identity,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

const AgentParams = z.strictObject({ principal: PrincipalId });

export const createKeyChallenge = defineRoute({
  operation: 'create-key-challenge',
  summary:
    'Create the challenge that a key signs for its enrolment. It expires, or ends with the next change of this ' +
    "agent's keys.",
  method: 'POST',
  path: '/api/v1/identity/agents/{principal}/challenge',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'challenge' },
  params: AgentParams,
  query: z.strictObject(TenantQuery),
  reply: z.strictObject({
    nonce: z.string(),
    /** The `aud` of proofs and tokens. */
    audience: z.string(),
    tenant_id: TenantId,
    principal_id: PrincipalId,
    expires_at: Instant,
  }),
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION'],
});

export const enrolIdentityKey = defineRoute({
  operation: 'enrol-identity-key',
  summary: 'Enrol a key of an agent. The key signs a JWS over the challenge, with the public key in its header.',
  method: 'POST',
  path: '/api/v1/identity/agents/{principal}/keys',
  auth: 'tenant_scoped',
  idempotency: 'key',
  params: AgentParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ proof: z.string().min(1).max(4_096) }),
  status: 201,
  reply: Identity,
  errors: ['INVALID_REQUEST', 'NOT_FOUND', 'ILLEGAL_TRANSITION', 'ALREADY_EXISTS', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const revokeIdentityKey = defineRoute({
  operation: 'revoke-identity-key',
  summary: 'Revoke a key of an agent permanently. It takes effect on the next decision of every kernel.',
  method: 'DELETE',
  path: '/api/v1/identity/agents/{principal}/keys/{kid}',
  auth: 'tenant_scoped',
  idempotency: { exempt: 'repeatable' },
  params: AgentParams.extend({ kid: KeyThumbprint }),
  query: z.strictObject(TenantQuery),
  reply: Identity,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});
