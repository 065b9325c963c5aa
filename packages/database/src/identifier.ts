// PostgreSQL truncates longer names silently, so two roles or databases could get the same name.
const identifierLengthMax = 63;

/** Quotes a schema, role, table or database name for SQL. Throws TypeError for a name that would need the quotes. */
export function quoteIdentifier(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || name.length > identifierLengthMax) {
    throw new TypeError(
      `Not a plain PostgreSQL identifier (at most 63 lower-case letters, digits and underscores, no digit first): ${name}`,
    );
  }
  return `"${name}"`;
}
