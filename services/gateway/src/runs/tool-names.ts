/**
 * OpenAI function names allow no dot, so `server.tool` travels as `server__tool`. Server ids hold neither spelling, so the first one
 * separates; whatever the tool's own name holds stays as it is, because the kernel reads it the same way.
 */
export function functionNameOf(tool: string): string {
  return tool.replace('.', '__');
}
