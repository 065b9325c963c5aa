import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeBase64,
  encodeBase64,
  InclusionPaths,
  leafHash,
  rootOf,
  utf8Bytes,
  verifyInclusion,
} from '../src/index.ts';
import type { EncodedInclusionClaim } from '../src/index.ts';
import { nodeProvider } from '../src/node.ts';
import { naiveInclusion } from './naive-merkle.ts';
import { refusal } from './vector-files.ts';

const sizeMax = 40;
const entries = Array.from({ length: sizeMax }, (_, index) => utf8Bytes(`entry ${index}`));
const leaves = entries.map((entry) => leafHash(nodeProvider, entry));

/** The true proof of each leaf, by size and index. */
const proofs = new Map<string, string[]>();
beforeAll(() => {
  for (let size = 1; size <= sizeMax; size += 1)
    for (let index = 0; index < size; index += 1)
      proofs.set(`${size} ${index}`, naiveInclusion(index, entries.slice(0, size)).map(encodeBase64));
});

function claimOf(size: number, index: number): EncodedInclusionClaim {
  const [leaf, proof] = [leaves[index], proofs.get(`${size} ${index}`)];
  if (leaf === undefined || proof === undefined) throw new Error('The tree has no such leaf');
  return { index, size, leafHash: leaf, proof: [...proof], root: rootOf(nodeProvider, leaves.slice(0, size)) };
}

const changes: Record<string, (claim: EncodedInclusionClaim, at: number) => EncodedInclusionClaim> = {
  none: (claim) => claim,
  'another sibling': (claim, at) => ({
    ...claim,
    proof: claim.proof.with(at % claim.proof.length, encodeBase64(leaves[at % 7] ?? new Uint8Array(32))),
  }),
  'no last hash': (claim) => ({ ...claim, proof: claim.proof.slice(0, -1) }),
  'one hash more': (claim) => ({ ...claim, proof: [...claim.proof, encodeBase64(new Uint8Array(32))] }),
  'swapped hashes': (claim) => ({ ...claim, proof: claim.proof.toReversed() }),
  'another leaf': (claim, at) => ({ ...claim, leafHash: leaves[at % sizeMax] ?? claim.leafHash }),
  'a short leaf': (claim) => ({ ...claim, leafHash: claim.leafHash.subarray(1) }),
  'another place': (claim, at) => ({ ...claim, index: at % 50 }),
  'a place that is no number': (claim) => ({ ...claim, index: Number.NaN }),
  'a fraction as place': (claim) => ({ ...claim, index: claim.index + 0.5 }),
  'another size': (claim, at) => ({ ...claim, size: at % 50 }),
  'another root': (claim) => ({ ...claim, root: new Uint8Array(32) }),
  'a short hash': (claim, at) => ({ ...claim, proof: claim.proof.with(at % claim.proof.length, 'AAAA') }),
  'another spelling': (claim, at) => ({
    ...claim,
    proof: claim.proof.with(at % claim.proof.length, `${'A'.repeat(42)}B=`),
  }),
};

const steps = fc.record({
  size: fc.constantFrom(sizeMax, sizeMax, sizeMax, 33, 7, 2),
  index: fc.nat(sizeMax - 1),
  at: fc.nat(200),
  change: fc.constantFrom(...Object.keys(changes)),
});

/** The code with which the claim is refused. `undefined` when it is accepted. */
function answerOf(verify: () => void): unknown {
  try {
    verify();
  } catch (error) {
    return refusal(() => {
      throw error;
    });
  }
  return undefined;
}

describe('the paths of many proofs', () => {
  it('accept exactly the claims that are accepted one by one, with the same refusals', () => {
    let [accepted, refused] = [0, 0];
    fc.assert(
      fc.property(fc.array(steps, { minLength: 2, maxLength: 12 }), (list) => {
        const paths = new InclusionPaths(nodeProvider);
        for (const { size, index, at, change } of list) {
          const whole = claimOf(size, index % size);
          const claim = whole.proof.length === 0 ? whole : (changes[change]?.(whole, at) ?? whole);
          const alone = answerOf(() =>
            verifyInclusion(nodeProvider, { ...claim, proof: claim.proof.map(decodeBase64) }),
          );
          expect([change, answerOf(() => paths.verify(claim))]).toEqual([change, alone]);
          if (alone === undefined) accepted += 1;
          else refused += 1;
        }
      }),
      { numRuns: 600 },
    );
    expect(Math.min(accepted, refused)).toBeGreaterThan(300);
  });

  it('refuse a false hash above the node that two paths share', () => {
    const paths = new InclusionPaths(nodeProvider);
    paths.verify(claimOf(sizeMax, 0));
    const claim = claimOf(sizeMax, 1);
    for (const at of claim.proof.keys()) {
      const proof = claim.proof.with(at, encodeBase64(new Uint8Array(32)));
      expect(() => paths.verify({ ...claim, proof })).toThrow('path does not lead to the root');
    }
    paths.verify(claim);
  });

  it('hash only the nodes below the node that two paths share', () => {
    let hashes = 0;
    const sha256 = (bytes: Uint8Array) => {
      hashes += 1;
      return nodeProvider.sha256(bytes);
    };
    const paths = new InclusionPaths({ ...nodeProvider, sha256 });
    for (const index of leaves.keys()) paths.verify(claimOf(sizeMax, index));
    expect(hashes).toBeLessThan(2 * sizeMax);
  });
});
