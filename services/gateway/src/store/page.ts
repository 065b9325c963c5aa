import { AppError } from '@countersign/contracts';

/** Pages run from newest to oldest by a key that never changes, so inserts do not shift them. */
export type PageRequest = { limit: number; cursor?: string | undefined };
export type Page<Item> = { data: Item[]; nextCursor: string | null };

const keyPattern = /^([a-z]{3}_[0-9A-HJKMNP-TV-Z]{26}|[1-9]\d{0,9})$/;

/** The condition on the key of a page's rows; empty for the first page. The cursor is attacker-controlled. */
export function olderThan({ cursor }: PageRequest): { lt?: string } {
  if (cursor === undefined) return {};
  const key = Buffer.from(cursor, 'base64url').toString('utf8');
  if (!keyPattern.test(key))
    throw new AppError('INVALID_REQUEST', 'The cursor was not issued by this list. Begin without a cursor', {
      param: 'cursor',
    });
  return { lt: key };
}

/** Cuts a page out of `limit + 1` rows. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  { limit }: PageRequest,
  view: { item(row: Row): Item; key(row: Row): string },
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const nextCursor =
    rows.length > limit && last !== undefined ? Buffer.from(view.key(last)).toString('base64url') : null;
  return { data: shown.map((row) => view.item(row)), nextCursor };
}
