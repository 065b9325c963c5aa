import { pageLimit } from '@countersign/contracts';
import { answered, type Connection } from './connection.ts';

export type PageOf<Item> = { data: Item[]; nextCursor: string | null } | { data: Item[]; next_cursor: string | null };
type At = { limit: number; cursor?: string };
export type Listed<Item> = { items: Item[]; next: string | null };

/** Reads the first `limit` items after `cursor`, page by page. Throws CommandFailed. */
export async function readList<Item>(
  connection: Connection,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  ask: (at: At) => Promise<{ body: PageOf<Item> }>,
): Promise<Listed<Item>> {
  const items: Item[] = [];
  let next: string | null = cursor ?? null;
  do {
    const at = { limit: Math.min(limit - items.length, pageLimit.max), ...(next === null ? {} : { cursor: next }) };
    const page = await answered(connection, () => ask(at));
    items.push(...page.data);
    next = 'nextCursor' in page ? page.nextCursor : page.next_cursor;
  } while (next !== null && items.length < limit);
  return { items, next };
}
