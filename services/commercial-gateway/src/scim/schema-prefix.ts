/**
 * Splits the optional schema URI from a name. `schema` is `null` when the name begins with none of these URIs. URIs are
 * case-insensitive, because some clients send them in capitals.
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
