import { AppError } from '@countersign/contracts';
import type { z } from 'zod';

/** The requested page of a list. */
export type PageOf = { limit: number; cursor?: string | undefined };

type Page<Row> = { rows: Row[]; nextCursor: string | null };

/** Returns the first `limit` rows, and the cursor of the next page if there are more rows. Pass `limit + 1` rows. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => string): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { rows: shown, nextCursor: hasMore ? Buffer.from(keyOf(last)).toString('base64url') : null };
}

/**
 * Returns the key in a cursor (attacker-controlled). `null` without a cursor. Throws INVALID_REQUEST for a cursor
 * without a valid key.
 */
export function readCursor<Key extends z.ZodType>(cursor: string | undefined, key: Key): z.infer<Key> | null {
  if (cursor === undefined) return null;
  const parsed = key.safeParse(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (parsed.success) return parsed.data;
  throw new AppError('INVALID_REQUEST', 'cursor is not the next_cursor of this list. Begin without a cursor', {
    param: 'cursor',
  });
}
