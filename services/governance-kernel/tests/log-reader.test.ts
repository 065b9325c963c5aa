import { expect, it } from '@jest/globals';
import { sha256Of } from '@countersign/contracts';
import { rootOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { receiptLeaf } from '@countersign/receipts';
import { logReaders, unlessIncomplete } from '../src/evidence/proof/log-reader.ts';

const hashAt = (index: number) => sha256Of(nodeProvider, `receipt ${index}`);
const leafAt = (index: number) => receiptLeaf(nodeProvider, hashAt(index));
const rootAt = (level: number, index: number) =>
  rootOf(
    nodeProvider,
    Array.from({ length: 2 ** level }, (_, nth) => leafAt(index * 2 ** level + nth)),
  );

/** A ledger of this many receipts, without the missing ones. `reads` has the start of each tile that was read. */
function ledgerOf(size: number, missing: readonly number[] = []) {
  const reads: number[] = [];
  const ledger = { size };
  const readers = logReaders(nodeProvider, {
    listNodes: async () => [],
    listLeaves: async (starts, width) => {
      reads.push(...starts);
      const places = starts.flatMap((start) => Array.from({ length: width }, (_, nth) => start + nth));
      return places
        .filter((index) => index < ledger.size && !missing.includes(index))
        .map((index) => ({ index, receiptHash: hashAt(index) }));
    },
  });
  return { ledger, readers, reads };
}

it('a missing receipt leaves a gap in the tree, and its neighbours do not take its place', async () => {
  const read = ledgerOf(256, [5]).readers();
  expect(await read(2, 0)).toEqual(rootAt(2, 0));
  for (const [level, index] of [
    [0, 5],
    [0, 6],
    [1, 2],
    [2, 1],
    [7, 1],
  ] as const)
    expect(await unlessIncomplete(read(level, index))).toBeNull();
});

it('readers of one export read a full tile once, and the tile at the end of the log again', async () => {
  const { ledger, readers, reads } = ledgerOf(300);
  for (const read of [readers(), readers()]) {
    expect(await read(7, 1)).toEqual(rootAt(7, 1));
    expect(await read(3, 36)).toEqual(rootAt(3, 36));
  }
  expect(reads).toEqual([0, 256, 256]);
  ledger.size = 304;
  expect(await readers()(3, 37)).toEqual(rootAt(3, 37));
});
