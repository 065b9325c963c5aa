import { AppError } from '@countersign/contracts';

export type PageRequest = { limit: number; cursor?: string | undefined };
export type Page<Item> = { data: Item[]; next_cursor: string | null };

/**
 * The key after which the page begins. `null` for the first page. A cursor is attacker-controlled and can only state a
 * key.
 */
export function pageStart({ cursor }: PageRequest, keyPattern: RegExp): string | null {
  if (cursor === undefined) return null;
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!keyPattern.test(key))
    throw new AppError('INVALID_REQUEST', 'The cursor was not issued by this list. Begin without a cursor', {
      param: 'cursor',
    });
  return key;
}

/** Cuts a page out of `limit + 1` rows. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  view: { item(row: Row): Item; key(row: Row): string },
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { data: shown.map(view.item), next_cursor: more ? Buffer.from(view.key(last)).toString('base64url') : null };
}
