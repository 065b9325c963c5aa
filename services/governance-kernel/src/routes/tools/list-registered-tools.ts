import { listRegisteredTools } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleTenant } from '../../handle.ts';
import { declaredEffect, type Pinned } from '../../registry/declared-effect.ts';
import { toolAddress, type ToolAddress } from '../../registry/tool-definition.ts';
import * as store from '../../store/registered-tools.ts';

export const listRegisteredToolsRoute = ({ reader, mcp, policies, clock }: Context) =>
  handleTenant(listRegisteredTools)(async ({ query, caller }) => {
    // A decision notices by itself that the policy has changed. A list of tools does not, so the policy is reloaded
    // first.
    await Promise.all([policies.reload(caller.tenant), mcp.reload?.(caller.tenant)]);
    const policy = policies.current(caller.tenant)?.policy ?? null;
    const effectOf = (address: ToolAddress, pinned: Pinned) =>
      declaredEffect(toolAddress(address), {
        byRegistry: mcp.effectOf(caller.tenant, address, pinned),
        ...{ policy, isOwn: false },
      });
    return await store.listRegisteredTools(reader, caller.tenant, { page: query, now: clock(), effectOf });
  });
