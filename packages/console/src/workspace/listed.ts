/** One part of a list. `next` is the cursor of the following part, or `null` when nothing follows. */
export type Listed<Item> = { items: readonly Item[]; next: string | null };

/** The answers of list routes. The name of the cursor depends on the service. */
export type PageOf<Item> = { data: Item[]; nextCursor: string | null } | { data: Item[]; next_cursor: string | null };

export function listedOf<Item>(page: PageOf<Item>): Listed<Item> {
  return { items: page.data, next: 'nextCursor' in page ? page.nextCursor : page.next_cursor };
}
