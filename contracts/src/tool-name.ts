/** Clients of MCP servers name `server.tool` as `mcp__server__tool`. No server has the id `mcp`. */
const clientPrefix = /^(?:mcp__)+(?=.+?(?:__|\.).)/;

/**
 * The tool that a name means: OpenAI function names hold no dot, so `server.tool` travels as `server__tool`, and models answer in
 * both. Server ids hold neither spelling, so the first one separates. The prefix of MCP clients is left out.
 */
export function toolOfFunctionName(name: string): string {
  return name.replace(clientPrefix, '').replace(/__|\./, '.');
}
