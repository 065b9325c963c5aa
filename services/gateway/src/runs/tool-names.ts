/**
 * OpenAI function names permit no dot, so `server.tool` becomes `server__tool`. Server ids contain neither separator,
 * so the first one separates. The rest of the name is unchanged, because the kernel parses it the same way.
 */
export function functionNameOf(tool: string): string {
  return tool.replace('.', '__');
}
