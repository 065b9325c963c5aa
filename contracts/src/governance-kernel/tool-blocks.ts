import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, Instant, TenantId, ToolName } from '../scalars.ts';

/** Beyond this a list of what is blocked should be a policy of what is allowed. */
const blockedToolsMax = 500;

export const BlockedTools = z.array(ToolName).max(blockedToolsMax);

export const ToolBlocks = z.strictObject({
  tenant_id: TenantId,
  version: ControlVersion,
  /** Sorted, each once, as `server.tool` whatever spelling it came in. */
  tools: BlockedTools,
  updated_at: Instant,
});
export type ToolBlocks = z.infer<typeof ToolBlocks>;

export const putToolBlocks = defineRoute({
  operation: 'put-tool-blocks',
  summary:
    'Set the whole list of tools that a workspace blocks, sealed. Its version is that of its source and only rises; the same version ' +
    'again confirms it.',
  method: 'PUT',
  path: '/internal/policy/blocks/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({ tenant: TenantId }),
  body: z.strictObject({ version: ControlVersion, tools: BlockedTools }),
  reply: ToolBlocks,
  errors: ['INVALID_REQUEST', 'ILLEGAL_TRANSITION', 'RECEIPT_STORE_UNAVAILABLE'],
});
