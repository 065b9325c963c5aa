import { ToolBlocks, putToolBlocks } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { blockTools } from '../../controls/policy/block-tools.ts';

/** Sets the tools that a workspace blocks, with the version that the caller assigned. */
export const putToolBlocksRoute = (kernel: Context) =>
  handleSystem(putToolBlocks)(async ({ params: { tenant }, body, caller }) => {
    const { version, tools, updatedAtMs } = await blockTools(kernel, { ...body, tenant, by: caller.principal });
    return ToolBlocks.parse({ tenant_id: tenant, version, tools, updated_at: new Date(updatedAtMs).toISOString() });
  });
