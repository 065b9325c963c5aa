import type { PinnedDefinition } from '../../registry/tool-definition.ts';

/** A text that a model reads, and its member. */
export type ToolText = { member: string; text: string };

/** All texts of a definition, names and values, since a model reads both. */
export function textsOf({ name, ...definition }: PinnedDefinition): ToolText[] {
  const texts: ToolText[] = [{ member: 'name', text: name }];
  const remaining: { value: unknown; member: string }[] = [{ value: definition, member: '' }];
  for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
    const { value, member } = next;
    if (typeof value === 'string') texts.push({ member, text: value });
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value)) {
      const at = member === '' ? key : `${member}.${key}`;
      if (!Array.isArray(value)) texts.push({ member: at, text: key });
      remaining.push({ value: item, member: at });
    }
  }
  return texts;
}
