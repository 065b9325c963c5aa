import { z } from 'zod';
import type { Reader, Transaction } from './database.ts';

/** `witness`: the name and key id of the witness. `textHash`: the hash of the text of the note. */
type NewCosignature = { witness: string; size: number; textHash: string; line: string; signedAt: Date };

/** Stores the first cosignature of a witness on a checkpoint. Another replica may have stored one before. */
export async function recordCosignature(
  transaction: Transaction,
  { witness, size, textHash, line, signedAt }: NewCosignature,
): Promise<void> {
  const data = { witness, tree_size: size, text_hash: textHash, line, signed_at: signedAt };
  await transaction((tx) => tx.cosignature.createMany({ data, skipDuplicates: true }));
}

/** The size of the largest tree that this witness cosigned. */
export async function findLastCosigned(reader: Reader, witness: string): Promise<number | null> {
  const row = await reader.cosignature.findFirst({ where: { witness }, orderBy: { tree_size: 'desc' } });
  return row === null ? null : Number(row.tree_size);
}

/**
 * The cosignature lines of one checkpoint, in a stable order. `until` excludes lines that were received later. `null`
 * excludes none.
 */
export async function listCosignatures(
  reader: Reader,
  { size, textHash, until }: { size: number; textHash: string; until: Date | null },
): Promise<string[]> {
  const received = until === null ? {} : { received_at: { lte: until } };
  const where = { tree_size: size, text_hash: textHash, ...received };
  const rows = await reader.cosignature.findMany({ where, orderBy: { witness: 'asc' } });
  return rows.map(({ line }) => line);
}

/** The limit of cosignatures that are read, so that the cost does not grow with the log. */
const cosignaturesReadMax = 64;

/** The sizes of up to four cosigned trees from this size on: those with most witnesses first, then the smallest. */
export async function findCosignedSizes(reader: Reader, size: number): Promise<number[]> {
  const rows = await reader.$queryRaw`
    SELECT near.tree_size FROM (
      SELECT tree_size FROM cosignatures WHERE tree_size >= ${size} ORDER BY tree_size LIMIT ${cosignaturesReadMax}) AS near
     GROUP BY near.tree_size ORDER BY count(*) DESC, near.tree_size ASC LIMIT 4`;
  return Sizes.parse(rows).map(({ tree_size }) => Number(tree_size));
}

const Sizes = z.array(z.object({ tree_size: z.bigint() }));
