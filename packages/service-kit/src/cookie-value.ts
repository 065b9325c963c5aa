/**
 * The value of a cookie in a `Cookie` header, which is attacker-controlled. `null` when it is missing. If two cookies
 * have the same name, one may be planted, so neither is used.
 */
export function cookieValue(header: string | undefined, name: string): string | null {
  const pairs = (header ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? (values[0] ?? null) : null;
}
