import type { TenantId } from '@countersign/contracts';
import type { NamedCall } from '../call/governed-call.ts';
import { toolOf } from '../call/normalise.ts';
import type { CachedState } from '../ledger/cached-state.ts';
import { knowsServers } from '../registry/known-servers.ts';
import type { ToolResolution, ToolResolver } from '../registry/tool-resolver.ts';
import type { KnownCall } from './known-call.ts';

/** The tool of a call. It is resolved under a version of the servers. */
export type ResolvedTool = Pick<KnownCall, 'servers'> & { resolution: ToolResolution | null };

/** The servers under which the tool is resolved. */
export function currentServers(tools: ToolResolver): CachedState<NamedCall, Promise<ResolvedTool>, KnownCall> {
  return {
    name: 'The MCP servers',
    current: async (call) => {
      const servers = versionOf(tools, call.caller.tenant);
      const tool = toolOf(call);
      return { servers, resolution: tool === null ? null : await tools.resolve(tool, call.caller.tenant) };
    },
    isCurrent: knowsServers,
    reload: ({ call }) => tools.reload?.(call.caller.tenant),
  };
}

/**
 * The version of the tenant's servers. It is read before a name is resolved. A later change is then noticed when the
 * call is concluded.
 */
export function versionOf(tools: ToolResolver, tenant: TenantId): string | null {
  return tools.versionOf?.(tenant) ?? null;
}
