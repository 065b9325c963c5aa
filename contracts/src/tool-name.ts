/**
 * The tool that a name means: OpenAI function names hold no dot, so `server.tool` travels as `server__tool`, and models answer in
 * both. Server ids hold neither spelling, so the first one separates.
 */
export function toolOfFunctionName(name: string): string {
  return name.replace(/__|\./, '.');
}
