import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, TenantId, ToolName } from '../scalars.ts';

/** The most blocked tools. A longer list should be a policy that names the allowed tools. */
const blockedToolsMax = 500;

export const BlockedTools = z.array(ToolName).max(blockedToolsMax);

export const ToolBlocks = z.strictObject({
  tenant_id: TenantId,
  version: ControlVersion,
  /**
   * Sorted and without duplicates. Every name has the form `server.tool`, regardless of its spelling in the request.
   */
  tools: BlockedTools,
  updated_at: Instant,
});
export type ToolBlocks = z.infer<typeof ToolBlocks>;

export const putToolBlocks = defineRoute({
  operation: 'put-tool-blocks',
  summary:
    'Set the complete list of tools that a workspace blocks, sealed. The version only rises. Repeating the ' +
    'current version confirms it.',
  method: 'PUT',
  path: '/internal/policy/blocks/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({ version: ControlVersion, tools: BlockedTools }),
  reply: ToolBlocks,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});
