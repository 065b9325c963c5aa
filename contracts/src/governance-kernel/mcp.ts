import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ApprovalId, CallArguments, CallMembers, PlainObject, SessionId, ToolName } from '../scalars.ts';
import { DecisionReply } from './evaluate.ts';

export const describeMcp = defineRoute({
  operation: 'describe-mcp',
  summary:
    'Describe the governed MCP server. With `Mcp-Session-Id` and `Accept: text/event-stream`, open the event stream of the session.',
  method: 'GET',
  path: '/mcp',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  door: 'mcp',
  assertedBy: ['agent'],
  media: 'openai',
  errors: ['NOT_FOUND', 'METHOD_NOT_ALLOWED'],
  reply: z.strictObject({
    server_name: z.string(),
    version: z.string(),
    mcp_endpoint: z.string(),
    capabilities_url: z.string(),
    execute_url: z.string(),
    supported_protocol_versions: z.array(z.string()),
  }),
});

/**
 * One JSON-RPC message, with contents as in the protocol. Batches are not supported. Revisions of the protocol since
 * 2025-06-18 have no batches. Request limits would count a batch of a hundred calls as one request.
 */
const JsonRpcMessage = z.looseObject({}, 'must be one JSON-RPC message; batches are not accepted');

export const callMcp = defineRoute({
  operation: 'call-mcp',
  summary: 'Call the governed MCP server in front of all approved upstream servers (2026-07-28 and 2025-11-25).',
  method: 'POST',
  path: '/mcp',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  idempotency: { exempt: 'protocol' },
  governed: true,
  door: 'mcp',
  assertedBy: ['agent'],
  media: 'mcp',
  body: JsonRpcMessage,
  reply: z.unknown(),
  errors: ['NOT_FOUND'],
});

export const getOauthProtectedResource = defineRoute({
  operation: 'get-oauth-protected-resource',
  summary: 'Get the OAuth metadata of `/mcp` (RFC 9728). Returns 404 if `GOV_OAUTH_ISSUER` is not set.',
  method: 'GET',
  path: '/.well-known/oauth-protected-resource/mcp',
  auth: 'public',
  reply: z.strictObject({
    /** The address of `/mcp`, which tokens must name as their audience. */
    resource: z.string(),
    authorization_servers: z.array(z.string()).min(1),
    scopes_supported: z.array(z.string()),
    bearer_methods_supported: z.array(z.literal('header')),
    resource_name: z.string(),
  }),
  errors: ['NOT_FOUND'],
});

export const McpTool = z.strictObject({
  name: z.string(),
  server_id: z.string(),
  description: z.string(),
  effect_level: z.string(),
  input_schema: PlainObject,
  definition_hash: z.string(),
});

export const listMcpCapabilities = defineRoute({
  operation: 'list-mcp-capabilities',
  summary: 'List the governed tools with their effects and pins.',
  method: 'GET',
  path: '/mcp/v1/capabilities',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  door: 'mcp',
  assertedBy: ['agent'],
  query: z.strictObject({ tenant_id: z.string().optional() }),
  reply: z.strictObject({ server_name: z.string(), version: z.string(), tools: z.array(McpTool) }),
});

export const McpExecution = z.strictObject({
  decision: DecisionReply,
  /** The CallToolResult of the upstream server. Absent when the call was not allowed. */
  result: PlainObject.optional(),
  is_error: z.boolean(),
  outcome_receipt_id: z.string().optional(),
  /**
   * Present for an executed call. `false` while its outcome is not sealed, because the ledger was unreachable. The
   * kernel seals the outcome when the ledger is back. Until then, the outcome is not durable.
   */
  outcome_sealed: z.boolean().optional(),
});

export const executeMcp = defineRoute({
  operation: 'execute-mcp',
  summary: 'Decide and execute one tool call. Refusals return 403 with the same body.',
  method: 'POST',
  path: '/mcp/v1/execute',
  auth: 'tenant_scoped',
  forward: { opensTo: 'agent', answer: 'upstream' },
  idempotency: 'key',
  governed: true,
  door: 'mcp',
  assertedBy: ['agent'],
  alsoStatus: [403],
  body: z.strictObject({
    tool: ToolName,
    args: CallArguments.default({}),
    session_id: SessionId,
    context: CallMembers.default({}),
    approval_grant: ApprovalId.optional(),
  }),
  reply: McpExecution,
  errors: ['RESERVED_CONTEXT_KEY', 'RECEIPT_STORE_UNAVAILABLE'],
});
