import type { Listed } from './listed.ts';

/**
 * The read part of a list that only grows at its front. `newer`: the number of items that came since the first read.
 * `newer`: so many came since it was first read.
 */
export type Lasting<Row> = Listed<Row> & { newer: number };

/** The most pages that are read to find a known item. */
const pagesMax = 5;

/**
 * Reads a list that only grows at its front again: from the newest item to the first known one. After too many missed
 * items, the list begins with the newest ones again. `known` is asked when a page has come, since more may be known by
 * then.
 */
export async function readNewest<Row extends { id: string }>(
  readPage: (cursor: string | null) => Promise<Listed<Row>>,
  known: () => Lasting<Row> | undefined,
): Promise<Lasting<Row>> {
  const items: Row[] = [];
  let next: string | null = null;
  for (let read = 0; read < pagesMax; read += 1) {
    const page = await readPage(next);
    const before = known();
    const [newest] = before?.items ?? [];
    const met = newest === undefined ? -1 : page.items.findIndex(({ id }) => id === newest.id);
    if (before !== undefined && met >= 0) return withNewer(before, [...items, ...page.items.slice(0, met)]);
    items.push(...page.items);
    next = page.next;
    if (newest === undefined || next === null) break;
  }
  return { items, next, newer: 0 };
}

/** The same list, as long as nothing is new: it is not rendered again then. */
function withNewer<Row>(list: Lasting<Row>, newer: readonly Row[]): Lasting<Row> {
  if (newer.length === 0) return list;
  return { ...list, items: [...newer, ...list.items], newer: list.newer + newer.length };
}

/** The items that were read behind `cursor`, unless the list continues elsewhere by now. */
export function withOlder<Row>(list: Lasting<Row>, cursor: string, older: Listed<Row>): Lasting<Row> {
  if (list.next !== cursor) return list;
  return { ...list, items: [...list.items, ...older.items], next: older.next };
}
