import type { CryptoProvider } from '@countersign/crypto';
import { cursorOf, parseCursor, type CursorScope } from './cursor.ts';

type PageQuery = { limit: number; cursor?: string | undefined };

/**
 * One page of a list in descending order of a number. It reads one item more than the page has, which shows whether
 * there is a next page.
 */
export async function pageOf<Item>(
  provider: CryptoProvider,
  scope: CursorScope,
  { limit, cursor }: PageQuery,
  list: { load(page: { limit: number; before: number | null }): Promise<Item[]>; placeOf(item: Item): number },
): Promise<{ data: Item[]; next_cursor: string | null }> {
  const [before = null] = cursor === undefined ? [] : parseCursor(provider, scope, { cursor, param: 'cursor' });
  const items = await list.load({ limit: limit + 1, before });
  const data = items.slice(0, limit);
  const last = items.length > limit ? data.at(-1) : undefined;
  return { data, next_cursor: last === undefined ? null : cursorOf(provider, scope, [list.placeOf(last)]) };
}
