/**
 * A caching reader that loads all keys requested in one turn of the event loop together. It serves one answer, so
 * nothing is evicted. A missing key is `undefined`.
 */
export function batched<Value>(
  load: (keys: string[]) => Promise<Map<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  const existing = new Map<string, Promise<Value | undefined>>();
  let wanted: string[] = [];
  let loading: Promise<Map<string, Value>> | null = null;

  const loadWanted = async () => {
    await new Promise((resolve) => setImmediate(resolve));
    const keys = wanted;
    wanted = [];
    loading = null;
    return load(keys);
  };
  const read = async (key: string) => {
    wanted.push(key);
    loading ??= loadWanted();
    return (await loading).get(key);
  };
  return (key) => {
    const found = existing.get(key) ?? read(key);
    existing.set(key, found);
    return found;
  };
}
