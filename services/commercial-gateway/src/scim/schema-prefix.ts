/**
 * A name without the URI of the schema that it may begin with. `schema` is `null` when there is none of these. URIs are compared without case:
 * clients send them in capitals as well.
 */
export function withoutSchema(name: string, schemas: readonly string[]): { schema: string | null; rest: string } {
  const lower = name.toLowerCase();
  for (const schema of schemas) {
    const prefix = schema.toLowerCase();
    if (lower === prefix) return { schema, rest: '' };
    if (lower.startsWith(`${prefix}:`)) return { schema, rest: name.slice(prefix.length + 1) };
  }
  return { schema: null, rest: name };
}
