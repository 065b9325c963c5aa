import type { Caller } from '../../call/governed-call.ts';
import type { ToolAddress } from '../../registry/tool-definition.ts';
import type { ProfileRow } from './auth-profiles.ts';

type Needed = { required: string[]; granted: string[] };

/** The scope of operators, which includes every scope. */
const everything = '*';

/**
 * The scopes and resources that the profiles require for a call of this tool, and those of its caller. Each value gets
 * the prefix `scope:` or `resource:`, so a scope never counts as a resource of the same name.
 */
export function neededScopes(
  profiles: readonly ProfileRow[],
  { serverId, toolName }: ToolAddress,
  { scopes, resource }: Pick<Caller, 'scopes' | 'resource'>,
): Needed {
  const required = new Set<string>();
  for (const { terms } of profiles) {
    if (!terms.servers.includes(serverId)) continue;
    const ofTool = Object.hasOwn(terms.tool_scopes, toolName) ? (terms.tool_scopes[toolName] ?? []) : [];
    for (const scope of [...terms.required_scopes, ...ofTool]) required.add(`scope:${scope}`);
    if (terms.resource !== null) required.add(`resource:${terms.resource}`);
  }
  if (scopes.includes(everything)) return { required: [...required], granted: [...required] };
  const granted = scopes.map((scope) => `scope:${scope}`);
  return { required: [...required], granted: resource === undefined ? granted : [...granted, `resource:${resource}`] };
}
