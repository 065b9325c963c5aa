import { AppError, type TenantId } from '@countersign/contracts';
import type { NamedCall } from '../call/governed-call.ts';
import { toolOf } from '../call/normalise.ts';
import type { ServersChanged } from '../registry/known-servers.ts';
import type { ToolResolution, ToolResolver } from '../registry/tool-resolver.ts';

type Resolved = { call: NamedCall; servers: string | null; resolution: ToolResolution | null };

/** Read before a name is resolved: what changes in between is noticed when the call is concluded. */
export function versionOf(tools: ToolResolver, tenant: TenantId): string | null {
  return tools.versionOf?.(tenant) ?? null;
}

/** A registry that changes more often than this within one decision is an attack or a fault. */
const serverChangesMax = 5;

/** Resolves the tool again when the servers changed since. Throws RECEIPT_STORE_UNAVAILABLE when they keep changing. */
export async function underKnownServers<Asked extends Resolved, Done extends { kind: string }>(
  tools: ToolResolver,
  asked: Asked,
  attempt: (known: Asked) => Promise<Done | ServersChanged>,
): Promise<Exclude<Done, ServersChanged>> {
  let known = asked;
  const { tenant } = asked.call.caller;
  for (let attempts = 0; attempts < serverChangesMax; attempts += 1) {
    const done = await attempt(known);
    if (done.kind !== 'servers_changed') return done as Exclude<Done, ServersChanged>; // the one kind that is left out
    await tools.reload?.(tenant);
    const tool = toolOf(asked.call);
    const servers = versionOf(tools, tenant);
    known = { ...asked, servers, resolution: tool === null ? null : await tools.resolve(tool, tenant) };
  }
  throw new AppError('RECEIPT_STORE_UNAVAILABLE', 'The MCP servers keep changing; nothing was executed');
}
