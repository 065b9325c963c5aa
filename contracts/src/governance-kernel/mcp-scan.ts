import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant } from '../scalars.ts';
import { Finding } from './mcp-findings.ts';
import { HiddenTool, hiddenToolsMax, McpServerId, McpServerState, ServerDocument } from './mcp-registry.ts';

const ScanReport = z.strictObject({
  server_id: McpServerId,
  /** `null` when the tenant has no server of this name. */
  state: McpServerState.nullable(),
  /** Why the tools of the server could not be listed. `null` when they were. */
  problem: z.string().nullable(),
  tool_count: z.int(),
  hidden_tools: z.array(HiddenTool).max(hiddenToolsMax),
  /** The highest severity of the findings. `unknown` when no tools could be listed. */
  risk: z.enum(['unknown', 'none', 'low', 'medium', 'high']),
  findings: z.array(Finding),
  /** The hash of the scanned definitions, which an approval binds. `null` for a server that is not registered. */
  definitions_hash: Digest.nullable(),
  rules_version: z.string(),
  scanned_at: Instant,
});
export type ScanReport = z.infer<typeof ScanReport>;

export const scanMcpServer = defineRoute({
  operation: 'scan-mcp-server',
  summary:
    'Connect to MCP servers and report problems of their tools. Send a `server_id`, or a document as for adding ' +
    'servers. Nothing is added, and no command is started.',
  method: 'POST',
  path: '/api/v1/mcp/scan',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'tool.manage', sessionOnly: true },
  opensToPrograms: true,
  assertedBy: ['owner'],
  idempotency: { exempt: 'reads' },
  query: z.strictObject({ tenant_id: z.string().optional() }),
  body: z.union([z.strictObject({ server_id: McpServerId }), ServerDocument]),
  reply: z.strictObject({ reports: z.array(ScanReport) }),
  errors: ['INVALID_REQUEST', 'NOT_FOUND'],
});
