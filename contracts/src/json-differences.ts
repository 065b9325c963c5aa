import { z } from 'zod';

export const JsonDifference = z.strictObject({
  /** The names of members from the root, separated by dots. */
  path: z.string(),
  /** The value as JSON; `null` when it is absent. */
  before: z.string().nullable(),
  after: z.string().nullable(),
});
export type JsonDifference = z.infer<typeof JsonDifference>;

/** The differences between two JSON values, by member. */
export function jsonDifferences(before: unknown, after: unknown, path = ''): JsonDifference[] {
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
    return names.flatMap((name) => {
      const at = path === '' ? name : `${path}.${name}`;
      return jsonDifferences(ownMember(before, name), ownMember(after, name), at);
    });
  }
  const [was, is] = [textOf(before), textOf(after)];
  return was === is ? [] : [{ path, before: was, after: is }];
}

/** Inherited members are ignored. */
function ownMember(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value, null, 2);
}
