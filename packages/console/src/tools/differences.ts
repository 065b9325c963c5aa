type Difference = { path: string; before: string | null; after: string | null };

/** Where two values of JSON differ, member by member; null: it is not there. */
export function differencesOf(before: unknown, after: unknown, path = ''): Difference[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => differencesOf(before[name], after[name], path === '' ? name : `${path}.${name}`));
  }
  const [was, is] = [textOf(before), textOf(after)];
  return was === is ? [] : [{ path, before: was, after: is }];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value, null, 2);
}
