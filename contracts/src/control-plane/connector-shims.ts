import { z } from 'zod';
import { AccessKey } from '../governance-kernel/access-keys.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { AccessKeyId, InstallId, Instant, PrincipalId, ReceiptId, ShimId, storableText, UserId } from '../scalars.ts';
import { ConnectorId } from './connectors.ts';

/** A credential of one existing client for the tools of one connector. */
export const Shim = z.strictObject({
  shim_id: ShimId,
  install_id: InstallId,
  connector_id: ConnectorId,
  /** The client that has the credential. */
  client: z.string(),
  /** `active`: at least one call with the credential was sealed. */
  state: z.enum(['issued', 'active', 'revoked']),
  /** The principal of calls with the credential, which rules, budgets and stops match. */
  principal_id: PrincipalId,
  /** The id of the kernel's key. `null` when the kernel has not confirmed the key. */
  key_id: AccessKeyId.nullable(),
  /** A sealed call with the credential. `null` while there is none. */
  receipt_id: ReceiptId.nullable(),
  created_by: UserId,
  created_at: Instant,
  expires_at: Instant,
  revoked_by: UserId.nullable(),
  revoked_at: Instant.nullable(),
});
export type Shim = z.infer<typeof Shim>;

/** The entry for the client's MCP configuration file. */
const ClientConfiguration = z.strictObject({
  /** The server, by its name in the client. */
  mcpServers: z.record(
    z.string(),
    z.strictObject({ type: z.literal('http'), url: z.string(), headers: z.record(z.string(), z.string()) }),
  ),
});

const InstallParam = { install_id: z.string().min(1).max(128) };

export const createShim = defineRoute({
  operation: 'create-shim',
  summary:
    'Create a credential that lets one client call only the pinned tools of this connector. The credential and ' +
    'the client configuration are returned only once.',
  method: 'POST',
  path: '/api/connectors/{install_id}/shims',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'secret' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'agent_key.manage',
  params: z.strictObject(InstallParam),
  body: z.strictObject({
    client: storableText({ min: 1, max: 100 }),
    expires_in_days: z.int().min(1).max(365).default(90),
  }),
  status: 201,
  reply: z.strictObject({
    ...Shim.shape,
    tools: AccessKey.shape.tools.unwrap(),
    /** The credential. It is returned only once. */
    credential: z.string(),
    client_configuration: ClientConfiguration,
  }),
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'LIMIT_REACHED', 'GOVERNANCE_UNAVAILABLE'],
});

export const listShims = defineRoute({
  operation: 'list-shims',
  summary: 'List the shims of an installed connector, newest first, including revoked ones.',
  method: 'GET',
  path: '/api/connectors/{install_id}/shims',
  auth: 'session',
  forward: {},
  leastRole: 'owner',
  right: 'agent_key.manage',
  opensToPrograms: true,
  params: z.strictObject(InstallParam),
  query: z.strictObject(PageQuery),
  reply: page(Shim),
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});

export const revokeShim = defineRoute({
  operation: 'revoke-shim',
  summary: 'Revoke the credential of a shim permanently. The kernel rejects its next call.',
  method: 'DELETE',
  path: '/api/connectors/{install_id}/shims/{shim_id}',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'owner',
  right: 'agent_key.manage',
  params: z.strictObject({ ...InstallParam, shim_id: z.string().min(1).max(128) }),
  reply: Shim,
  errors: ['NOT_FOUND', 'GOVERNANCE_UNAVAILABLE'],
});
