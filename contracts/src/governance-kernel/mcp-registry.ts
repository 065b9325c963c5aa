import { z } from 'zod';
import { JsonDifference } from '../json-differences.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import {
  ApprovalId,
  Digest,
  EffectLevel,
  Instant,
  PlainObject,
  PrincipalId,
  ReceiptId,
  storableText,
  TenantId,
} from '../scalars.ts';
import { Finding } from './mcp-findings.ts';

/** The name of the governed server, and the prefix of tool names at MCP clients: `mcp__files__read` is `files.read`. */
const reserved: ReadonlySet<string> = new Set(['countersign', 'mcp']);

/**
 * The id contains no dot and no double underscore. The first of them in `server.tool` or `server__tool` therefore ends
 * the id.
 */
export const McpServerId = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[a-z0-9-]|_(?!_))*$/, 'may hold lower-case letters, digits, - and single _')
  .refine((id) => !id.endsWith('_') && !reserved.has(id), 'is reserved');

export const McpServerState = z.enum(['discovered', 'quarantined', 'approved', 'revoked', 'expired']);

/** The action that an approval of a server is requested for. */
export const approveServerAction = 'mcp.server.approve';

const TenantQuery = { tenant_id: z.string().optional() };

/** The connection of the answering kernel. Each replica has its own connection. */
export const ServerHealth = z.strictObject({
  /**
   * `idle`: no call needed the connection yet. `suspended`: the server is connected and does not answer. Calls are
   * refused until a trial succeeds.
   */
  state: z.enum(['idle', 'connected', 'unreachable', 'suspended']),
  /** The time when this state began. */
  since: Instant,
  consecutive_failures: z.int().nonnegative(),
  /**
   * The text is attacker-controlled, and contains no values of the configuration. `null` when there was no error, or
   * when only operators may see it.
   */
  last_error: z.strictObject({ message: z.string().max(512), at: Instant }).nullable(),
  /** The next attempt. `null` when none is due. */
  retry_at: Instant.nullable(),
  running_calls: z.int().nonnegative(),
});
export type ServerHealth = z.infer<typeof ServerHealth>;

export const McpServer = z.strictObject({
  server_id: McpServerId,
  /** `installation`: an operator declared it in GOV_MCP_SERVERS, for every tenant. */
  owner: z.enum(['tenant', 'installation']),
  transport: z.enum(['http', 'stdio']),
  /**
   * Without values that may be secrets: `url` has scheme, host and port, and `address_digest` distinguishes addresses of
   * one host. A command has `command_digest` for its arguments. Headers and variables are named only.
   */
  config: PlainObject,
  state: McpServerState,
  /** The reason for this state, as stated by the person who set it. `null` when no reason was stated. */
  reason: z.string().nullable(),
  /** Why the kernel does not connect to the server. `null` when it does. */
  not_connected: z.string().nullable(),
  /** `null` when the kernel does not connect to the server. */
  health: ServerHealth.nullable(),
  registered_by: PrincipalId.nullable(),
  created_at: Instant,
  updated_at: Instant,
  approved_by: PrincipalId.nullable(),
  approved_at: Instant.nullable(),
  /**
   * The receipt of kind `registry` that sealed the last approval: `mcp.server.approve`, or for a declared server
   * `mcp.server.declare`, and `mcp.server.pin` once its first list is pinned. `null` when the server was not approved,
   * or before the first start with a version that seals declarations.
   */
  approval_receipt_id: ReceiptId.nullable(),
  expires_at: Instant.nullable(),
  revoked_by: PrincipalId.nullable(),
  revoked_at: Instant.nullable(),
});
export type McpServer = z.infer<typeof McpServer>;

/** The current definition of a tool, beside the approved one. */
export const McpServerTool = z.strictObject({
  /** The name that the server uses, which is attacker-controlled. */
  name: z.string(),
  /** `missing`: the server no longer lists the pinned tool. `unpinned`: the tool was not part of the last approval. */
  pin: z.enum(['in_sync', 'drifted', 'unpinned', 'missing']),
  pinned_hash: Digest.nullable(),
  observed_hash: Digest,
  annotated_effect: EffectLevel,
  /** `null` when the definition is too long for a page. */
  definition: PlainObject.nullable(),
  /** The differences between the pinned and the observed definition, by member. */
  diff: z.array(JsonDifference),
  /**
   * The pin that ended when the operator declared another address or command under this name. `null` when there was
   * none, and after an approval.
   */
  earlier_hash: Digest.nullable(),
  /** The differences between the definition of the ended pin and `definition`, by member. */
  earlier_diff: z.array(JsonDifference),
  /** The pinned tool that disappeared when this one came with the same schemas. `null` when there is none. */
  renamed_from: z.string().nullable(),
});
export type McpServerTool = z.infer<typeof McpServerTool>;

/** A tool that the server lists and that the kernel cannot use. */
export const HiddenTool = z.strictObject({ name: z.string().max(256), problem: z.string().max(512) });
export type HiddenTool = z.infer<typeof HiddenTool>;

export const hiddenToolsMax = 100;

export const McpServerDetail = McpServer.extend({
  tools: z.array(McpServerTool),
  hidden_tools: z.array(HiddenTool).max(hiddenToolsMax),
  /**
   * The hash of configuration and observed definitions. An approval binds it. `null` while the server has not listed
   * its tools.
   */
  definitions_hash: Digest.nullable(),
  /** The action and resource to request an approval for. `null` while the server cannot be approved. */
  approval: z.strictObject({ action: z.string(), resource: z.string() }).nullable(),
  /**
   * The open request for an approval of exactly these definitions. Its state is `approved` until the kernel has pinned
   * the tools.
   */
  approval_request: z
    .strictObject({
      approval_id: ApprovalId,
      state: z.enum(['pending', 'approved']),
      /** The time when the request expires. */
      expires_at: Instant,
      /** The end of the requested approval of the server. `null` when it has no end. */
      server_expires_at: Instant.nullable(),
    })
    .nullable(),
});
export type McpServerDetail = z.infer<typeof McpServerDetail>;

export const listMcpServers = defineRoute({
  operation: 'list-mcp-servers',
  summary: 'List the MCP servers of the tenant and of the installation by name, with their states.',
  method: 'GET',
  path: '/api/v1/mcp/registry',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'tool.read' },
  assertedBy: ['member', 'partner', 'owner'],
  query: z.strictObject({ ...TenantQuery, ...PageQuery }),
  reply: page(McpServer),
});

const ServerParams = z.strictObject({ server_id: McpServerId });

export const getMcpServer = defineRoute({
  operation: 'get-mcp-server',
  summary: 'Get an MCP server with its tools, their changes since the approval, and the terms of an approval request.',
  method: 'GET',
  path: '/api/v1/mcp/registry/{server_id}',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'tool.read' },
  assertedBy: ['member', 'partner', 'owner'],
  params: ServerParams,
  query: z.strictObject(TenantQuery),
  reply: McpServerDetail,
  errors: ['NOT_FOUND'],
});

export const compareMcpServerAddress = defineRoute({
  operation: 'compare-mcp-server-address',
  summary:
    'Compare an address with that of a server of the tenant. No request returns the whole address, since its path may ' +
    'be a secret.',
  method: 'POST',
  path: '/api/v1/mcp/registry/{server_id}/compare-address',
  auth: 'tenant_scoped',
  forward: { opensTo: 'member', right: 'tool.read' },
  opensToPrograms: true,
  assertedBy: ['member', 'partner', 'owner'],
  idempotency: { exempt: 'reads' },
  params: ServerParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2_048) }),
  reply: McpServerDetail.extend({
    /**
     * Whether the server has this scheme, host, port and path. Query and user are not compared. `false` for a server
     * of the installation, and for a command.
     */
    has_address: z.boolean(),
  }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});

/**
 * One of four forms: an address, a command, the document of an MCP client, or a `server.json` of the official registry.
 */
export const ServerDocument = z
  .strictObject({
    server_id: McpServerId.optional(),
    url: z.string().max(2_048).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    command: z.string().max(1_024).optional(),
    /** The arguments of the command. */
    args: z.array(z.string().max(4_096)).max(256).optional(),
    env: z.record(z.string(), z.string()).optional(),
    /** The format of Claude Desktop, Cursor and Claude Code. */
    mcpServers: PlainObject.optional(),
    /** The format of VS Code. */
    servers: PlainObject.optional(),
    /** The format of the official registry, schema 2025-12-11. */
    server_json: PlainObject.optional(),
  })
  .refine(
    ({ url, command, mcpServers, servers, server_json: serverJson }) =>
      [url, command, mcpServers, servers, serverJson].filter((form) => form !== undefined).length === 1,
    'must have one of url, command, mcpServers, servers and server_json',
  );
export type ServerDocument = z.infer<typeof ServerDocument>;

/** The result of the first read of a server. */
const RegisteredServer = McpServerDetail.extend({
  /** Why the tools of the server could not be listed. `null` when they were. */
  problem: z.string().nullable(),
  findings: z.array(Finding),
});

export const registerMcpServer = defineRoute({
  operation: 'register-mcp-server',
  summary:
    'Add MCP servers to the tenant, sealed. New and changed servers are quarantined: operators see their tools, ' +
    'and calls are not sent. Commands start only in a sandbox.',
  method: 'POST',
  path: '/api/v1/mcp/registry',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'tool.manage', sessionOnly: true },
  // Programs may add servers, since they are quarantined until people approve them in a browser.
  opensToPrograms: true,
  assertedBy: ['owner'],
  idempotency: { exempt: 'repeatable' },
  query: z.strictObject(TenantQuery),
  body: ServerDocument,
  status: 202,
  reply: z.strictObject({ servers: z.array(RegisteredServer) }),
  errors: ['INVALID_REQUEST', 'ALREADY_EXISTS', 'LIMIT_REACHED', 'RECEIPT_STORE_UNAVAILABLE'],
});

const ApprovalTerms = {
  /** The owner of the server, whose approval is required. */
  tenant_id: TenantId,
  /** A receipt of the approval of `mcp.server.approve`: of its request or its vote. The approval is consumed. */
  approval_receipt_id: ReceiptId,
  /** The current hash of the server. Another hash means that the server has changed. */
  definitions_hash: Digest,
  /** The end of the approval. The approval names it in its resource or as an argument. */
  expires_at: Instant.optional(),
};

const approval = {
  method: 'POST',
  auth: 'admin',
  idempotency: { exempt: 'precondition' },
  reply: McpServerDetail,
  errors: [
    'NOT_FOUND',
    'APPROVAL_NEEDED',
    'ILLEGAL_TRANSITION',
    'PRECONDITION_FAILED',
    'UPSTREAM_FAILED',
    'RECEIPT_STORE_UNAVAILABLE',
  ],
} as const;

export const approveMcpServer = defineRoute({
  operation: 'approve-mcp-server',
  summary:
    'Approve a server and pin its current tools, sealed. Requires an approval of exactly these definitions. Also ' +
    'accepts changed tools and ends a revocation.',
  path: '/api/v1/mcp/registry/{server_id}/approve',
  params: ServerParams,
  body: z.strictObject(ApprovalTerms),
  ...approval,
  errors: [...approval.errors],
});

export const approveNamedMcpServer = defineRoute({
  operation: 'approve-named-mcp-server',
  summary: 'Approve the server that the body names, as `approve-mcp-server` does.',
  path: '/api/v1/mcp/registry/approve',
  body: z.strictObject({ server_id: McpServerId, ...ApprovalTerms }),
  ...approval,
  errors: [...approval.errors],
});

export const revokeMcpServer = defineRoute({
  operation: 'revoke-mcp-server',
  summary:
    'Revoke a server, sealed. Every kernel denies its tools from its next decision on, until the server is approved again.',
  method: 'POST',
  path: '/api/v1/mcp/registry/{server_id}/revoke',
  auth: 'admin',
  idempotency: { exempt: 'repeatable' },
  params: ServerParams,
  body: z.strictObject({ tenant_id: TenantId, reason: storableText({ min: 1, max: 500 }) }),
  reply: McpServerDetail,
  errors: ['NOT_FOUND', 'RECEIPT_STORE_UNAVAILABLE'],
});

export const disableMcpServer = defineRoute({
  operation: 'disable-mcp-server',
  summary:
    'Revoke a server that the workspace added, sealed. Every kernel denies its tools from its next decision on. ' +
    'Only a newly requested approval ends the revocation.',
  method: 'POST',
  path: '/api/v1/mcp/registry/{server_id}/disable',
  auth: 'tenant_scoped',
  forward: { opensTo: 'partner', right: 'stop.give', sessionOnly: true },
  // Programs may revoke access, since only people can restore it.
  opensToPrograms: true,
  assertedBy: ['partner', 'owner'],
  idempotency: { exempt: 'repeatable' },
  params: ServerParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ reason: storableText({ min: 1, max: 500 }) }),
  reply: McpServerDetail,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

/**
 * The resource of an approval of a server. It includes the end of the approval, so that approvers read it and votes
 * bind it.
 */
export function approveServerResource(serverId: string, definitionsHash: string, expiresAt?: Instant): string {
  const end = expiresAt === undefined ? '' : `&expires_at=${expiresAt}`;
  return `mcp_server:${serverId}?definitions=${definitionsHash}${end}`;
}

const ApprovedServer = z.strictObject({
  serverId: McpServerId,
  definitionsHash: Digest,
  /** Absent when the approval has no end. */
  expiresAt: Instant.optional(),
});

/**
 * The server, the hash of its definitions and the end, as read from the resource of an approval. `null` for any other
 * text.
 */
export function readApproveServerResource(resource: string | null): z.infer<typeof ApprovedServer> | null {
  const [, serverId, definitionsHash, expiresAt] =
    /^mcp_server:([^?]+)\?definitions=([^&]+)(?:&expires_at=(.+))?$/.exec(resource ?? '') ?? [];
  return ApprovedServer.safeParse({ serverId, definitionsHash, expiresAt }).data ?? null;
}
