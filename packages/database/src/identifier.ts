// PostgreSQL truncates longer names silently, and two roles or databases would become one.
const identifierLengthMax = 63;

/** Quotes a schema, role, table or database name for SQL; throws TypeError on names this project never uses. */
export function quoteIdentifier(name: string): string {
  if (!/^[a-z_][a-z0-9_]*$/.test(name) || name.length > identifierLengthMax) {
    throw new TypeError(`Not a plain PostgreSQL identifier (lower case, digits, underscore, at most 63): ${name}`);
  }
  return `"${name}"`;
}
