import type { Caller } from '../call/governed-call.ts';
import type { ToolAddress } from '../registry/tool-definition.ts';
import type { ProfileRow } from './auth-profiles.ts';

type Needed = { required: string[]; granted: string[] };

/** The operator grants what it asks for. */
const everything = '*';

/**
 * The scopes that the profiles demand for a call of this tool, and those that its caller has. The names are those of
 * scopes, not of tools: a scope that is called like a tool stands for none.
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
