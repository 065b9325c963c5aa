/** Clients of MCP servers name `server.tool` as `mcp__server__tool`. No server has the id `mcp`. */
const clientPrefix = /^(?:mcp__)+(?=.+?(?:__|\.).)/;

/**
 * The normalised name of a tool. OpenAI function names contain no dot, so `server.tool` is sent as `server__tool`, and
 * models answer with both. Server ids contain neither separator, so the first one separates. The prefix of MCP clients
 * is removed.
 */
export function toolOfFunctionName(name: string): string {
  return name.replace(clientPrefix, '').replace(/__|\./, '.');
}
