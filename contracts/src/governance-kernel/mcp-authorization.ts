import { z } from 'zod';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalId,
  CallArguments,
  CallMembers,
  Digest,
  EffectLevel,
  Instant,
  PrincipalId,
  SessionId,
  storableText,
  TenantId,
} from '../scalars.ts';
import { DecisionReply } from './evaluate.ts';
import { McpServerId } from './mcp-registry.ts';

/** RFC 6749 §3.3: one scope. */
export const OauthScope = z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/, 'must be a scope of RFC 6749');
const Scopes = z.array(OauthScope).max(64);
const Address = z.url({ protocol: /^https?$/ }).max(2_048);

export const AuthProfileId = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/);

const AuthProfileTerms = {
  /** The servers of the profile. */
  servers: z.array(McpServerId).min(1).max(64),
  /** The audience of tokens (RFC 8707). `null` for any accepted audience. */
  resource: Address.nullable().default(null),
  authorization_servers: z.array(Address).max(16).default([]),
  scopes_supported: Scopes.default([]),
  /** The scopes that every call of a tool of these servers needs. */
  required_scopes: Scopes.default([]),
  /** The additional scopes for calls of one tool, by the tool's name at its server. */
  tool_scopes: z.record(z.string().min(1).max(256), Scopes).default({}),
};

export const AuthProfile = z.strictObject({
  profile_id: AuthProfileId,
  tenant_id: TenantId,
  ...AuthProfileTerms,
  /** SHA-256 of the canonical JSON of `tool_scopes`. */
  tool_scope_hash: Digest,
  /** SHA-256 of the canonical JSON of the terms. */
  profile_hash: Digest,
  set_by: PrincipalId,
  updated_at: Instant,
});
export type AuthProfile = z.infer<typeof AuthProfile>;

export const listAuthProfiles = defineRoute({
  operation: 'list-auth-profiles',
  summary: 'List the authorization profiles of a tenant by name.',
  method: 'GET',
  path: '/api/v1/mcp/auth-profiles',
  auth: 'admin',
  query: z.strictObject({ tenant_id: TenantId, ...PageQuery }),
  reply: page(AuthProfile),
});

export const putAuthProfile = defineRoute({
  operation: 'put-auth-profile',
  summary:
    'Set the scopes that calls of MCP servers require, sealed. Calls without these scopes are denied with ' +
    'INSUFFICIENT_SCOPE.',
  method: 'PUT',
  path: '/api/v1/mcp/auth-profiles/{profile_id}',
  auth: 'admin',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ profile_id: AuthProfileId }),
  body: z.strictObject({ tenant_id: TenantId, ...AuthProfileTerms }),
  reply: AuthProfile,
  errors: ['LIMIT_REACHED', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const authorizeMcpCall = defineRoute({
  operation: 'authorize-mcp-call',
  summary: 'Decide one tool call that the caller sends to the server itself. Refusals return 403 with the same body.',
  method: 'POST',
  path: '/api/v1/mcp/authorize-call',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  idempotency: 'key',
  governed: true,
  door: 'mcp',
  assertedBy: ['agent'],
  alsoStatus: [403],
  query: z.strictObject({ tenant_id: z.string().optional() }),
  body: z.strictObject({
    server_id: McpServerId,
    tool_name: storableText({ min: 1, max: 256 }),
    args: CallArguments.default({}),
    session_id: SessionId,
    context: CallMembers.default({}),
    effect_level: EffectLevel.optional(),
    approval_grant: ApprovalId.optional(),
    /**
     * The hash of the definition that the caller read. If it is not the pinned hash, the call is denied with
     * SCHEMA_DRIFT.
     */
    pinned_schema_hash: Digest.optional(),
    /**
     * The scopes of the caller's token. Only operators can state them, for their own callers. For a proven caller, only
     * the proven scopes count.
     */
    granted_scopes: Scopes.default([]),
    /** The audience of that token. */
    oauth_resource: Address.optional(),
  }),
  reply: DecisionReply,
  errors: ['RESERVED_CONTEXT_KEY', 'RECEIPT_STORE_UNAVAILABLE'],
});
