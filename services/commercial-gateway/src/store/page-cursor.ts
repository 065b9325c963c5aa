import { AppError } from '@countersign/contracts';
import type { z } from 'zod';

/** Part of a list. */
export type PageOf = { limit: number; cursor?: string | undefined };

type Page<Row> = { rows: Row[]; nextCursor: string | null };

/** The first `limit` of `limit + 1` rows, with the cursor of the next page. */
export function pageOf<Row>(rows: readonly Row[], limit: number, keyOf: (row: Row) => string): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { rows: shown, nextCursor: hasMore ? Buffer.from(keyOf(last)).toString('base64url') : null };
}

/** The key in a cursor (attacker-controlled). `null` without a cursor. Throws INVALID_REQUEST for a cursor of another list. */
export function readCursor<Key extends z.ZodType>(cursor: string | undefined, key: Key): z.infer<Key> | null {
  if (cursor === undefined) return null;
  const parsed = key.safeParse(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (parsed.success) return parsed.data;
  throw new AppError('INVALID_REQUEST', 'cursor is not the next_cursor of this list. Begin without a cursor', {
    param: 'cursor',
  });
}
