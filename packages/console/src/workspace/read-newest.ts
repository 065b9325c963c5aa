import type { Listed } from './listed.ts';

/** What was read of what only grows at its front. `newer`: so many came since it was first read. */
export type Lasting<Row> = Listed<Row> & { newer: number };

/** So many pages are read at most to find what is known already. */
const pagesMax = 5;

/**
 * What only grows at its front, read anew: from the newest on until something is met that is known, and behind that nothing. Whoever was
 * away for too long begins with the newest ones again. `known` is asked when a page has come, since more may be known by then.
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

/** The same list, as long as nothing is new: nobody shows it anew then. */
function withNewer<Row>(list: Lasting<Row>, newer: readonly Row[]): Lasting<Row> {
  if (newer.length === 0) return list;
  return { ...list, items: [...newer, ...list.items], newer: list.newer + newer.length };
}

/** What was read behind `cursor`, unless the list goes on elsewhere by now. */
export function withOlder<Row>(list: Lasting<Row>, cursor: string, older: Listed<Row>): Lasting<Row> {
  if (list.next !== cursor) return list;
  return { ...list, items: [...list.items, ...older.items], next: older.next };
}
