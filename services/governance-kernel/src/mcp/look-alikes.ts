import { foldedToolName } from '@countersign/policy';
import type { Tool } from '@modelcontextprotocol/client';

/** A listing is kept until the server is asked again, and each call looks at it. */
const found = new WeakMap<readonly Tool[], ReadonlySet<string>>();

/**
 * The names of one server's tools that a reader takes for another of them. The plain spelling keeps its name; without
 * one, no tool has it.
 */
export function lookAlikesAmong(tools: readonly Tool[]): ReadonlySet<string> {
  const known = found.get(tools);
  if (known !== undefined) return known;
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
