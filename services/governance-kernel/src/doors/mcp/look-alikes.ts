import { foldedToolName } from '@countersign/policy';
import type { Tool } from '@modelcontextprotocol/client';

/**
 * The similar names of each listing. A listing is cached until the next query of the server, and each call reads it.
 */
const found = new WeakMap<readonly Tool[], ReadonlySet<string>>();

/**
 * The names of one server's tools that readers may confuse with another of its tools. A similar name in plain spelling
 * is not included and stays usable. If none of the similar names has the plain spelling, all of them are included.
 */
export function lookAlikesAmong(tools: readonly Tool[]): ReadonlySet<string> {
  const existing = found.get(tools);
  if (existing !== undefined) return existing;
  const spellings = new Map<string, string[]>();
  for (const name of new Set(tools.map((tool) => tool.name))) {
    const folded = foldedToolName(name);
    spellings.set(folded, [...(spellings.get(folded) ?? []), name]);
  }
  const alike = [...spellings].flatMap(([folded, names]) =>
    names.length === 1 ? [] : names.filter((name) => name !== folded),
  );
  const lookAlikes = new Set(alike);
  found.set(tools, lookAlikes);
  return lookAlikes;
}
