import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { Digest, storableText } from '../scalars.ts';
import { Approval } from './approvals.ts';
import { McpServerId } from './mcp-registry.ts';

export const requestMcpServerApproval = defineRoute({
  operation: 'request-mcp-server-approval',
  summary:
    'Ask the approvers of the tenant to approve one of its MCP servers with exactly the definitions that it listed. Once they have approved, the ' +
    'kernel lists the tools once more and pins them. An open request for the same definitions is returned instead of a second one.',
  method: 'POST',
  path: '/api/v1/mcp/registry/{server_id}/request-approval',
  auth: 'tenant_scoped',
  forward: { opensTo: 'owner', right: 'tool.manage', sessionOnly: true },
  // It adds nothing: people decide the request at a browser.
  opensToPrograms: true,
  assertedBy: ['owner'],
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ server_id: McpServerId }),
  query: z.strictObject({ tenant_id: z.string().optional() }),
  body: z.strictObject({
    /** The hash on the server's page. Another hash means that the server changed since. */
    definitions_hash: Digest,
    /** Advice for the approvers. */
    reason: storableText({ min: 1, max: 500 }),
  }),
  status: 201,
  reply: Approval,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'PRECONDITION_FAILED', 'POLICY_DENIED', 'RECEIPT_STORE_UNAVAILABLE'],
});
