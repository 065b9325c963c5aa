/** Like `Array.isArray`, which would narrow an unknown value to a list of `any`. */
export function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
