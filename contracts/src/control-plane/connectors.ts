import { z } from 'zod';
import { McpServerDetail, McpServerId, McpServerState, McpServerTool } from '../governance-kernel/mcp-registry.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Digest, InstallId, Instant, PlainObject, storableText, UserId } from '../scalars.ts';

/** The name of a connector is the name of its MCP server at the kernel. */
export const ConnectorId = McpServerId;

/** A header that the server accepts, as declared in its server.json. */
const ConnectorHeader = z.strictObject({
  name: z.string(),
  description: z.string().nullable(),
  is_required: z.boolean(),
  is_secret: z.boolean(),
});

/** An entry of the signed catalogue. */
export const Connector = z.strictObject({
  connector_id: ConnectorId,
  version: z.string(),
  title: z.string(),
  summary: z.string(),
  /** The address of the MCP server, over streamable HTTP. */
  url: z.string(),
  headers: z.array(ConnectorHeader),
  /** SHA-256 of the canonical JSON of its server.json, which the signed catalogue states. */
  server_json_hash: Digest,
  /** Its enabled install in the addressed workspace. `null` when there is none. */
  install_id: InstallId.nullable(),
});
export type Connector = z.infer<typeof Connector>;

export const listConnectors = defineRoute({
  operation: 'list-connectors',
  summary: 'List the connectors of the signed catalogue by name. If the catalogue was altered, the request fails.',
  method: 'GET',
  path: '/api/v1/marketplace/connectors',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'tool.read',
  opensToPrograms: true,
  query: z.strictObject(PageQuery),
  reply: page(Connector),
  errors: ['INTEGRITY_FAILED'],
});

/** Accepts any text, so that an impossible name gets the same 404 as an unknown one. */
const OfConnector = z.strictObject({ connector_id: z.string().min(1).max(128) });

export const getConnector = defineRoute({
  operation: 'get-connector',
  summary: 'Get a connector of the signed catalogue with its server.json.',
  method: 'GET',
  path: '/api/v1/marketplace/connectors/{connector_id}',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'tool.read',
  opensToPrograms: true,
  params: OfConnector,
  reply: Connector.extend({ server_json: PlainObject }),
  errors: ['NOT_FOUND', 'INTEGRITY_FAILED'],
});

/** The kernel's knowledge of one tool of an installed connector. */
const ConnectorDrift = McpServerTool.pick({ name: true, observed_hash: true, diff: true }).extend({
  /** The approved hash. `null` when none was approved. */
  expected_hash: Digest.nullable(),
  /**
   * `unknown`: the tool was never approved, or its server no longer lists it. The kernel sends no calls of drifted or
   * unknown tools.
   */
  status: z.enum(['in_sync', 'drifted', 'unknown']),
});

export const ConnectorInstall = z.strictObject({
  install_id: InstallId,
  connector_id: ConnectorId,
  version: z.string(),
  server_json_hash: Digest,
  /**
   * The kernel's state of the server. `unregistered`: the kernel has not confirmed it; install it again, or disable it.
   */
  state: z.enum([...McpServerState.options, 'unregistered']),
  /** The hash that an approval binds. `null` while the server has not listed its tools. */
  definitions_hash: Digest.nullable(),
  /** The open request for an approval of exactly these definitions. */
  approval_request: McpServerDetail.shape.approval_request,
  /** Each tool of the server, as the kernel saw it last. */
  drift: z.array(ConnectorDrift),
  installed_by: UserId,
  installed_at: Instant,
  disabled_by: UserId.nullable(),
  disabled_at: Instant.nullable(),
});
export type ConnectorInstall = z.infer<typeof ConnectorInstall>;

/** Header values are short, and a server accepts few of them. */
const HeaderValues = z
  .record(z.string().min(1).max(128), z.string().min(1).max(4_096))
  .refine((headers) => Object.keys(headers).length <= 16, 'must have 16 headers at most');

export const installConnector = defineRoute({
  operation: 'install-connector',
  summary:
    "Register a connector of the signed catalogue at the kernel, in quarantine. It counts towards the plan's " +
    'connector limit. A disabled connector stays revoked until it is approved again.',
  method: 'POST',
  path: '/api/v1/marketplace/connectors/{connector_id}/install',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'owner',
  right: 'tool.manage',
  bodyBytesMax: 100_000,
  // Programs may install connectors, since these are quarantined until people approve them in a browser.
  opensToPrograms: true,
  params: OfConnector,
  body: z.strictObject({
    /** The version in the catalogue that the caller read. */
    version: z.string().min(1).max(255),
    /** Values of the server's headers. Only the kernel stores them, encrypted. */
    headers: HeaderValues.default({}),
  }),
  reply: ConnectorInstall,
  errors: [
    'INVALID_REQUEST',
    'NOT_FOUND',
    'ALREADY_EXISTS',
    'PRECONDITION_FAILED',
    'LIMIT_REACHED',
    'INTEGRITY_FAILED',
    'GOVERNANCE_UNAVAILABLE',
  ],
});

export const disableConnector = defineRoute({
  operation: 'disable-connector',
  summary: 'Revoke an installed connector. Returns after the kernel has confirmed it, so the next call is denied.',
  method: 'POST',
  path: '/api/v1/marketplace/connectors/{connector_id}/disable',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'repeatable' },
  leastRole: 'partner',
  right: 'stop.give',
  opensToPrograms: true,
  params: OfConnector,
  body: z.strictObject({ reason: storableText({ min: 1, max: 500 }) }),
  reply: ConnectorInstall,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'GOVERNANCE_UNAVAILABLE'],
});

export const listInstalls = defineRoute({
  operation: 'list-installs',
  summary: 'List the installed connectors of the workspace by name, with their state and the drift of their tools.',
  method: 'GET',
  path: '/api/connectors',
  auth: 'session',
  forward: {},
  leastRole: 'member',
  right: 'tool.read',
  opensToPrograms: true,
  query: z.strictObject(PageQuery),
  reply: page(ConnectorInstall),
  errors: ['GOVERNANCE_UNAVAILABLE'],
});

export const approveInstall = defineRoute({
  operation: 'approve-install',
  summary:
    'Approve an installed connector with these definitions and pin its tools. APPROVAL_NEEDED names the request ' +
    'that another person must approve. Then repeat the call.',
  method: 'POST',
  path: '/api/connectors/{install_id}/approve',
  auth: 'session',
  forward: {},
  idempotency: { exempt: 'precondition' },
  needsPresence: true,
  leastRole: 'owner',
  right: 'tool.manage',
  params: z.strictObject({ install_id: z.string().min(1).max(128) }),
  body: z.strictObject({
    definitions_hash: Digest,
    /** Advice for the approvers. */
    reason: storableText({ min: 1, max: 500 }),
  }),
  reply: ConnectorInstall,
  errors: [
    'NOT_FOUND',
    'ILLEGAL_TRANSITION',
    'PRECONDITION_FAILED',
    'POLICY_DENIED',
    'APPROVAL_NEEDED',
    'GOVERNANCE_UNAVAILABLE',
  ],
});
