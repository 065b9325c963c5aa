import type { TenantId } from '@countersign/contracts';
import type { FenceScope } from '@countersign/contracts/governance-kernel';
import { meaningOf, meaningsOf } from './declared-tools.ts';

/** The scopes of fences that apply to a tool: each spelling of the tool, and the server that its name begins with. */
export function fenceScopesOfTool(tenant: TenantId, tool: string): FenceScope[] {
  const server = serverOf(meaningOf(tool));
  const scopes = server === null ? [] : [`server:${server}`, `server:${tenant}/${server}`];
  for (const meaning of meaningsOf(tool)) scopes.push(`tool:*/${meaning}`, `tool:${tenant}/${meaning}`);
  return scopes as FenceScope[]; // each text has the form of a scope
}

/** A server id contains no dot, so the first dot of a tool name ends it. */
function serverOf(name: string): string | null {
  const at = name.indexOf('.');
  return at < 1 || at + 1 >= name.length ? null : name.slice(0, at);
}
