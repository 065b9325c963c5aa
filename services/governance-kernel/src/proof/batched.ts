/**
 * A reader that remembers what it read, and asks for all keys that were wanted in one turn of the event loop at once. For the
 * length of one answer: nothing is ever forgotten. A key that is not there is undefined.
 */
export function batched<Value>(
  load: (keys: string[]) => Promise<Map<string, Value>>,
): (key: string) => Promise<Value | undefined> {
  const known = new Map<string, Promise<Value | undefined>>();
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
    const found = known.get(key) ?? read(key);
    known.set(key, found);
    return found;
  };
}
