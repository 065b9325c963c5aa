import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, Instant, storableText } from '../scalars.ts';
import { Approval } from './approvals.ts';
import { McpServerId } from './mcp-registry.ts';

export const requestMcpServerApproval = defineRoute({
  operation: 'request-mcp-server-approval',
  summary:
    'Request the approval of an MCP server with its current definitions. After the approval, the kernel lists and ' +
    'pins the tools. An equal open request is returned instead.',
  method: 'POST',
  path: '/api/v1/mcp/registry/{server_id}/request-approval',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'tool.manage', sessionOnly: true },
  // Programs may request the approval, since people decide the request in a browser.
  opensToPrograms: true,
  assertedBy: ['owner'],
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ server_id: McpServerId }),
  query: z.strictObject({ tenant_id: z.string().optional() }),
  body: z.strictObject({
    /** The current hash of the server. Another hash means that the server has changed. */
    definitions_hash: Digest,
    /** Advice for the approvers. */
    reason: storableText({ min: 1, max: 500 }),
    /**
     * The end of the approval. Without it, the server is approved until an owner revokes it. Approvers see the end in
     * the resource of the request.
     */
    expires_at: Instant.optional(),
  }),
  status: 201,
  reply: Approval,
  errors: [
    'NOT_FOUND',
    'ILLEGAL_TRANSITION',
    'PRECONDITION_FAILED',
    'END_PASSED',
    'POLICY_DENIED',
    'RECEIPT_STORE_UNAVAILABLE',
  ],
});
