/** Part of a list, as a service has told it, and where what follows begins; null: nothing follows. */
export type Listed<Item> = { items: readonly Item[]; next: string | null };

/** The answers of lists; those of the gateway have other names. */
export type PageOf<Item> = { data: Item[]; nextCursor: string | null } | { data: Item[]; next_cursor: string | null };

export function listedOf<Item>(page: PageOf<Item>): Listed<Item> {
  return { items: page.data, next: 'nextCursor' in page ? page.nextCursor : page.next_cursor };
}
