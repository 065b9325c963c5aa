import { describe, expect, it } from '@jest/globals';
import { decodeBase64, leafHash, rootOf, utf8Bytes, verifyConsistency } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { linkedCheckpoints, provenExtended } from '../src/evidence/receipts/linked-checkpoints.ts';

const leaves = Array.from({ length: 1_000 }, (_, at) => leafHash(nodeProvider, utf8Bytes(`leaf ${at}`)));
const rootAt = (size: number) => rootOf(nodeProvider, leaves.slice(0, size));
const seen = (tree_size: number) => ({ tree_size, note: `note of ${tree_size}` });

/** A log of these leaves. `reads` counts the nodes that were read. */
function openLog() {
  const log = { reads: 0, parts: { provider: nodeProvider, newReader: () => read } };
  const read = (level: number, index: number) => {
    log.reads += 1;
    return Promise.resolve(rootOf(nodeProvider, leaves.slice(index * 2 ** level, (index + 1) * 2 ** level)));
  };
  return log;
}

describe('the checkpoints of an export', () => {
  it('each have a proof that they extend the one before, which reads few nodes of the log', async () => {
    const log = openLog();
    const sizes = [3, 64, 417, 1_000];
    const { checkpoints, consistency } = await linkedCheckpoints(log.parts, sizes.map(seen));
    expect(checkpoints).toEqual(sizes.map((size) => `note of ${size}`));
    expect(consistency).toHaveLength(3);
    for (const [at, hashes] of consistency.entries()) {
      const [from = 0, to = 0] = sizes.slice(at);
      const proof = hashes.map(decodeBase64);
      verifyConsistency(nodeProvider, { from, to, fromRoot: rootAt(from), toRoot: rootAt(to), proof });
    }
    expect(log.reads).toBeLessThan(100);
  });

  it('need no proof from an empty tree, from no checkpoint, or to the same tree', async () => {
    const log = openLog();
    expect((await linkedCheckpoints(log.parts, [seen(0), seen(8)])).consistency).toEqual([[]]);
    expect((await linkedCheckpoints(log.parts, [seen(8)])).consistency).toEqual([]);
    for (const from of [undefined, seen(0), seen(8)])
      expect(await provenExtended(log.parts, { from, to: seen(8) })).toEqual([]);
    expect(log.reads).toBe(0);
  });
});
