import { chainOf, exportOf, headOf } from './chain-fixture.ts';
import { invalid } from './receipt-vector.ts';
import type { ReceiptVector } from './receipt-vector.ts';

/** Exports whose receipts each have a path to a signed root, but have places that no kernel assigns. */
export async function placeVectors(): Promise<Record<string, ReceiptVector>> {
  const chain = chainOf(3);
  const head = headOf(chain);
  const receipts = [...chain.receipts];
  const records = [...chain.records, head.record];
  const early = await exportOf([{ receipts: [head.receipt, ...receipts], records }], { heads: false });
  const reversed = await exportOf([{ receipts: [...receipts.toReversed(), head.receipt], records }], { heads: false });
  const [first, ...others] = early.receipts;
  const whole = await exportOf([chain]);
  return {
    'invalid/head-before-its-chain': invalid(
      'A head statement that stands in the log before the receipts of which it speaks.',
      'TIME_MISMATCH',
      { ...early, heads: first === undefined ? [] : [{ head: first }], receipts: others },
      0,
    ),
    'invalid/chain-against-its-log': invalid(
      'A chain whose receipts stand in the log from the last to the first.',
      'TIME_MISMATCH',
      {
        ...reversed,
        heads: reversed.receipts.slice(3).map((line) => ({ head: line })),
        receipts: reversed.receipts.slice(0, 3).toReversed(),
      },
      1,
    ),
    'invalid/place-taken-twice': invalid(
      'A head statement that stands among the receipts too, so that one place is taken twice.',
      'DUPLICATE',
      { ...whole, receipts: whole.heads.map(({ head: line }) => line) },
      0,
    ),
  };
}
