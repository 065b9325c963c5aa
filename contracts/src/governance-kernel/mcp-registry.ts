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

/** No dot and no double underscore: `server.tool` and `server__tool` then split in one way only. */
export const McpServerId = z
  .string()
  .max(63)
  .regex(/^[a-z0-9](?:[a-z0-9-]|_(?!_))*$/, 'may hold lower-case letters, digits, - and single _')
  .refine((id) => !id.endsWith('_') && !reserved.has(id), 'is reserved');

export const McpServerState = z.enum(['discovered', 'quarantined', 'approved', 'revoked', 'expired']);

/** The action that an approval of a server is requested for. */
export const approveServerAction = 'mcp.server.approve';

const TenantQuery = { tenant_id: z.string().optional() };

/** The connection of the kernel that answers. Each replica has a connection of its own. */
export const ServerHealth = z.strictObject({
  /** `idle`: no call needed it yet. `suspended`: it is connected and does not answer, so that calls are refused until a trial succeeds. */
  state: z.enum(['idle', 'connected', 'unreachable', 'suspended']),
  since: Instant,
  consecutive_failures: z.int().nonnegative(),
  /** Attacker-controlled, without values of the configuration. `null` when there was no error, or when it is for operators alone. */
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
  /** Without values that may be secrets: the address, the command, and the names of headers and variables. */
  config: PlainObject,
  state: McpServerState,
  /** Why the server is in this state, in the words of the person who put it there. `null` when no reason was given. */
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
  /** The receipt of kind `registry` that sealed the last approval. `null` when an operator approved the server at the start of the kernel. */
  approval_receipt_id: ReceiptId.nullable(),
  expires_at: Instant.nullable(),
  revoked_by: PrincipalId.nullable(),
  revoked_at: Instant.nullable(),
});
export type McpServer = z.infer<typeof McpServer>;

/** The definition that a server showed of one tool, beside the approved one. */
export const McpServerTool = z.strictObject({
  /** The name that the server uses, which is attacker-controlled. */
  name: z.string(),
  /** `missing`: the server lists the pinned tool no longer. `unpinned`: the tool was not part of the last approval. */
  pin: z.enum(['in_sync', 'drifted', 'unpinned', 'missing']),
  pinned_hash: Digest.nullable(),
  observed_hash: Digest,
  annotated_effect: EffectLevel,
  /** `null` when it is too long for this page. */
  definition: PlainObject.nullable(),
  /** From the pinned definition to the observed one, by member. */
  diff: z.array(JsonDifference),
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
  /** The open request for an approval of exactly these definitions. `approved` while the kernel has not pinned the tools yet. */
  approval_request: z
    .strictObject({ approval_id: ApprovalId, state: z.enum(['pending', 'approved']), expires_at: Instant })
    .nullable(),
});
export type McpServerDetail = z.infer<typeof McpServerDetail>;

export const listMcpServers = defineRoute({
  operation: 'list-mcp-servers',
  summary: 'The MCP servers of the tenant and of the installation, by name, with their states.',
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
  summary:
    'One MCP server with every tool that it showed, what changed since the approval, and what to request an approval for.',
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

/** One of four forms: an address, a command, the document of an MCP client, or a `server.json` of the official registry. */
export const ServerDocument = z
  .strictObject({
    server_id: McpServerId.optional(),
    url: z.string().max(2_048).optional(),
    headers: z.record(z.string(), z.string()).optional(),
    command: z.string().max(1_024).optional(),
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
  /** Why its tools could not be listed. `null` when they were. */
  problem: z.string().nullable(),
  findings: z.array(Finding),
});

export const registerMcpServer = defineRoute({
  operation: 'register-mcp-server',
  summary:
    'Add MCP servers to the tenant, sealed. A new or changed server is quarantined: operators see its tools, and no call of one is sent. ' +
    'A revoked server stays revoked. The kernel starts no command that was added here outside a sandbox.',
  method: 'POST',
  path: '/api/v1/mcp/registry',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'tool.manage', sessionOnly: true },
  // An added server is in quarantine, and people approve it at a browser.
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
  /** The owner of the server. This tenant's approval counts. */
  tenant_id: TenantId,
  /** A receipt of the approval of `mcp.server.approve`: of its request or of its vote. The approval is used up. */
  approval_receipt_id: ReceiptId,
  /** The hash on the server's page. Another one means that the server changed since. */
  definitions_hash: Digest,
  /** From then on the approval has expired. It is an argument of the approved call. */
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
    'Approve a server and pin each tool that it lists now, sealed. It needs an approval of exactly these definitions. The same request accepts ' +
    'tools that changed, and ends a revocation.',
  path: '/api/v1/mcp/registry/{server_id}/approve',
  params: ServerParams,
  body: z.strictObject(ApprovalTerms),
  ...approval,
  errors: [...approval.errors],
});

export const approveNamedMcpServer = defineRoute({
  operation: 'approve-named-mcp-server',
  summary: 'The same, for the server that the body names.',
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
    'Revoke a server that the workspace added itself, sealed. Every kernel denies its tools from its next decision on. Only an approval that was ' +
    'requested later ends that.',
  method: 'POST',
  path: '/api/v1/mcp/registry/{server_id}/disable',
  auth: 'tenant_scoped',
  assertedBy: ['partner', 'owner'],
  idempotency: { exempt: 'repeatable' },
  params: ServerParams,
  query: z.strictObject(TenantQuery),
  body: z.strictObject({ reason: storableText({ min: 1, max: 500 }) }),
  reply: McpServerDetail,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});

/** The resource of an approval of a server. */
export function approveServerResource(serverId: string, definitionsHash: string): string {
  return `mcp_server:${serverId}?definitions=${definitionsHash}`;
}

/** The server and the definitions of such a resource. `null` for any other text. */
export function readApproveServerResource(
  resource: string | null,
): { serverId: string; definitionsHash: Digest } | null {
  const [, serverId, hash] = /^mcp_server:([^?]+)\?definitions=(.+)$/.exec(resource ?? '') ?? [];
  const parsed = z.tuple([McpServerId, Digest]).safeParse([serverId, hash]);
  return parsed.success ? { serverId: parsed.data[0], definitionsHash: parsed.data[1] } : null;
}
