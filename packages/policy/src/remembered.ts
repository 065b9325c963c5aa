/** Callers choose names, so the memory for them is bounded. A policy or an installation uses fewer and shorter ones. */
const [namesMax, lengthMax] = [1_000, 256];

/**
 * A pure function of a name that remembers its values. Decisions need the same forms of the same few names. The values
 * are shared, so they must not be changed.
 */
export function remembered<Value extends string | readonly string[]>(of: (name: string) => Value) {
  const values = new Map<string, Value>();
  return (name: string): Value => {
    if (name.length > lengthMax) return of(name);
    const found = values.get(name);
    if (found !== undefined) return found;
    if (values.size === namesMax) values.clear();
    const value = of(name);
    values.set(name, value);
    return value;
  };
}
