/** Callers choose names, so the memory for them is bounded. A policy or an installation uses far fewer. */
const namesMax = 1_000;

/**
 * A pure function of a name that remembers its values. Decisions need the same forms of the same few names. The values
 * are shared, so they must not be changed.
 */
export function remembered<Value extends string | readonly string[]>(of: (name: string) => Value) {
  const values = new Map<string, Value>();
  return (name: string): Value => {
    const found = values.get(name);
    if (found !== undefined) return found;
    if (values.size === namesMax) values.clear();
    const value = of(name);
    values.set(name, value);
    return value;
  };
}
