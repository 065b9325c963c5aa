import type { Listed } from './listed.ts';

/**
 * The read part of a list that only grows at its front. `newer` is the number of items that were added since the first
 * read.
 */
export type Lasting<Row> = Listed<Row> & { newer: number };

/** The most pages that are read to find a known item. */
const pagesMax = 5;

/**
 * Reads the new items of a list that only grows at its front, up to the first known item. After too many new items, the
 * list starts again from the newest ones. `isKnown` is called after each page, because the known list may have grown by
 * then.
 */
export async function readNewest<Row extends { id: string }>(
  readPage: (cursor: string | null) => Promise<Listed<Row>>,
  isKnown: () => Lasting<Row> | undefined,
): Promise<Lasting<Row>> {
  const items: Row[] = [];
  let next: string | null = null;
  for (let read = 0; read < pagesMax; read += 1) {
    const page = await readPage(next);
    const before = isKnown();
    const [newest] = before?.items ?? [];
    const met = newest === undefined ? -1 : page.items.findIndex(({ id }) => id === newest.id);
    if (before !== undefined && met >= 0) return withNewer(before, [...items, ...page.items.slice(0, met)]);
    items.push(...page.items);
    next = page.next;
    if (newest === undefined || next === null) break;
  }
  return { items, next, newer: 0 };
}

/** Returns the same object when nothing is new, so that the list is not rendered again. */
function withNewer<Row>(list: Lasting<Row>, newer: readonly Row[]): Lasting<Row> {
  if (newer.length === 0) return list;
  return { ...list, items: [...newer, ...list.items], newer: list.newer + newer.length };
}

/** Appends the items that were read at `cursor`, unless the list continues at another cursor by now. */
export function withOlder<Row>(list: Lasting<Row>, cursor: string, older: Listed<Row>): Lasting<Row> {
  if (list.next !== cursor) return list;
  return { ...list, items: [...list.items, ...older.items], next: older.next };
}
