/** OpenAI function names allow no dot, so `server.tool` travels as `server__tool`. */
export function functionNameOf(tool: string): string {
  return tool.replace('.', '__');
}

export function toolOfFunctionName(name: string): string {
  return name.includes('.') ? name : name.replace('__', '.');
}
