import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  emptyFrontier,
  appendLeaf,
  consistencyProof,
  decodeHex,
  emptyRoot,
  encodeHex,
  frontierRoot,
  inclusionProof,
  leafHash,
  portableProvider,
  rootOf,
  utf8Bytes,
  verifyConsistency,
  verifyInclusion,
} from '../src/index.ts';
import type { ConsistencyClaim, CryptoProvider, Frontier, InclusionClaim } from '../src/index.ts';
import { nodeProvider } from '../src/node.ts';
import { naiveConsistency, naiveInclusion, naiveRoot } from './naive-merkle.ts';
import { flipBit, refusal, vectorsOf } from './vector-files.ts';

type Vector =
  | { kind: 'roots'; leaves: string[]; roots: string[] }
  | { kind: 'inclusion'; index: number; size: number; leaf_hash: string; proof: string[]; root: string; code: string }
  | {
      kind: 'consistency';
      from: number;
      to: number;
      from_root: string;
      to_root: string;
      proof: string[];
      code: string;
    };

const sizeMax = 70;
const entries = Array.from({ length: sizeMax }, (_, index) => utf8Bytes(`entry ${index}`));
const leaves = entries.map((entry) => leafHash(nodeProvider, entry));
const stored = new Map<string, Uint8Array>();
const frontiers: Frontier[] = [emptyFrontier];

async function readNode(level: number, index: number): Promise<Uint8Array> {
  const hash = stored.get(`${level}/${index}`);
  if (hash === undefined) throw new Error(`node ${level}/${index} was read before it was complete`);
  return hash;
}

function check(provider: CryptoProvider, vector: Vector): void {
  if (vector.kind === 'roots') {
    const hashes = vector.leaves.map((leaf) => leafHash(provider, decodeHex(leaf)));
    vector.roots.forEach((root, size) => expect(encodeHex(rootOf(provider, hashes.slice(0, size)))).toBe(root));
    return;
  }
  const proof = vector.proof.map(decodeHex);
  if (vector.kind === 'inclusion') {
    const { index, size, leaf_hash, root } = vector;
    verifyInclusion(provider, { index, size, leafHash: decodeHex(leaf_hash), proof, root: decodeHex(root) });
    return;
  }
  const { from, to, from_root, to_root } = vector;
  verifyConsistency(provider, { from, to, fromRoot: decodeHex(from_root), toRoot: decodeHex(to_root), proof });
}

beforeAll(() => {
  let frontier = emptyFrontier;
  for (const leaf of leaves) {
    const appended = appendLeaf(nodeProvider, frontier, leaf);
    for (const { level, index, hash } of appended.completed) stored.set(`${level}/${index}`, hash);
    frontier = appended.frontier;
    frontiers.push(frontier);
  }
});

describe('RFC 9162 vectors', () => {
  it.each(vectorsOf<Vector>('inclusion/valid'))('accepts %s', (_name, vector) => {
    for (const provider of [portableProvider, nodeProvider]) check(provider, vector);
  });

  it.each(vectorsOf<Vector & { code: string }>('inclusion/invalid'))('refuses %s', (_name, vector) => {
    for (const provider of [portableProvider, nodeProvider])
      expect(refusal(() => check(provider, vector)).code).toBe(vector.code);
  });
});

describe('the Merkle tree', () => {
  it('has the root of the recursive definition at every size', () => {
    for (let size = 0; size <= sizeMax; size += 1) {
      const root = naiveRoot(entries.slice(0, size));
      expect(rootOf(nodeProvider, leaves.slice(0, size))).toEqual(root);
      expect(frontierRoot(nodeProvider, frontiers[size] ?? emptyFrontier)).toEqual(root);
    }
    expect(emptyRoot(nodeProvider)).toEqual(naiveRoot([]));
  });

  it('completes each perfect subtree once, when its last leaf arrives', () => {
    for (let level = 0; 2 ** level <= sizeMax; level += 1) {
      for (let index = 0; (index + 1) * 2 ** level <= sizeMax; index += 1) {
        const subtree = entries.slice(index * 2 ** level, (index + 1) * 2 ** level);
        expect(stored.get(`${level}/${index}`)).toEqual(naiveRoot(subtree));
      }
    }
    expect(stored.size).toBe(70 + 35 + 17 + 8 + 4 + 2 + 1);
  });

  it('does not change a frontier by appending to it', () => {
    const before = structuredClone(frontiers[5]);
    appendLeaf(nodeProvider, frontiers[5] ?? emptyFrontier, utf8Bytes('other'));
    expect(frontiers[5]).toEqual(before);
  });

  it('refuses a frontier that does not fit its size', () => {
    const [first = utf8Bytes(''), second = first] = leaves;
    for (const broken of [
      { size: 3, hashes: [first] },
      { size: 2, hashes: [first, second] },
      { size: -1, hashes: [] },
      { size: 0.5, hashes: [] },
    ]) {
      expect(refusal(() => appendLeaf(nodeProvider, broken, first)).code).toBe('TREE_SIZE_OUT_OF_RANGE');
      expect(refusal(() => frontierRoot(nodeProvider, broken)).code).toBe('TREE_SIZE_OUT_OF_RANGE');
    }
  });
});

describe('inclusion', () => {
  it('is proven for every leaf of every tree, with the proof of the recursive definition', async () => {
    for (let size = 1; size <= sizeMax; size += 1) {
      const root = naiveRoot(entries.slice(0, size));
      for (let index = 0; index < size; index += 1) {
        const proof = await inclusionProof(nodeProvider, readNode, { index, size });
        expect(proof.map(encodeHex)).toEqual(naiveInclusion(index, entries.slice(0, size)).map(encodeHex));
        verifyInclusion(nodeProvider, { index, size, leafHash: leaves[index] ?? root, proof, root });
      }
    }
  });

  it.each([1, 2, 4, 64])(
    'is refused at index %i of a tree of that size, although the proof leads to the root',
    async (size) => {
      const root = naiveRoot(entries.slice(0, size));
      const proof = await inclusionProof(nodeProvider, readNode, { index: 0, size });
      const claim = { index: size, size, leafHash: leaves[0] ?? root, proof, root };
      expect(refusal(() => verifyInclusion(nodeProvider, claim)).code).toBe('INCLUSION_NOT_PROVEN');
    },
  );

  it('is refused after any tampering with the claim', async () => {
    const cases = fc
      .integer({ min: 2, max: sizeMax })
      .chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1), bit: fc.nat(), what: fc.nat(4) }));
    await fc.assert(
      fc.asyncProperty(cases, async ({ size, index, bit, what }) => {
        const proof = await inclusionProof(nodeProvider, readNode, { index, size });
        const claim = {
          index,
          size,
          leafHash: leaves[index] ?? utf8Bytes(''),
          proof,
          root: naiveRoot(entries.slice(0, size)),
        };
        expect(refusal(() => verifyInclusion(nodeProvider, tamperedInclusion(claim, bit, what))).code).toBe(
          'INCLUSION_NOT_PROVEN',
        );
      }),
      { numRuns: 500 },
    );
  });

  it('cannot be proven for a leaf beyond the tree', async () => {
    for (const [index, size] of [
      [3, 3],
      [0, 0],
      [-1, 3],
      [0.5, 3],
      [0, 2 ** 53],
    ] as const)
      await expect(inclusionProof(nodeProvider, readNode, { index, size })).rejects.toMatchObject({
        code: 'TREE_SIZE_OUT_OF_RANGE',
      });
  });
});

describe('consistency', () => {
  it('is proven for every pair of sizes, with the proof of the recursive definition', async () => {
    for (let to = 1; to <= sizeMax; to += 1) {
      const toRoot = naiveRoot(entries.slice(0, to));
      for (let from = 1; from <= to; from += 1) {
        const proof = await consistencyProof(nodeProvider, readNode, { from, to });
        expect(proof.map(encodeHex)).toEqual(naiveConsistency(from, entries.slice(0, to)).map(encodeHex));
        verifyConsistency(nodeProvider, { from, to, fromRoot: naiveRoot(entries.slice(0, from)), toRoot, proof });
      }
    }
  });

  it('is refused after any tampering with the claim', async () => {
    const cases = fc
      .integer({ min: 2, max: sizeMax })
      .chain((to) =>
        fc.record({ to: fc.constant(to), from: fc.integer({ min: 1, max: to - 1 }), bit: fc.nat(), what: fc.nat(4) }),
      );
    await fc.assert(
      fc.asyncProperty(cases, async ({ from, to, bit, what }) => {
        const proof = await consistencyProof(nodeProvider, readNode, { from, to });
        const claim = {
          from,
          to,
          fromRoot: naiveRoot(entries.slice(0, from)),
          toRoot: naiveRoot(entries.slice(0, to)),
          proof,
        };
        expect(refusal(() => verifyConsistency(nodeProvider, tamperedConsistency(claim, bit, what))).code).toBe(
          'CONSISTENCY_NOT_PROVEN',
        );
      }),
      { numRuns: 500 },
    );
  });

  it('cannot be proven from the empty tree or to a smaller one', async () => {
    for (const [from, to] of [
      [0, 3],
      [0, 0],
      [4, 3],
      [1.5, 3],
      [1, 2 ** 53],
    ] as const)
      await expect(consistencyProof(nodeProvider, readNode, { from, to })).rejects.toMatchObject({
        code: 'TREE_SIZE_OUT_OF_RANGE',
      });
  });
});

function tamperedProof(proof: readonly Uint8Array[], bit: number): Uint8Array[] {
  const at = Math.floor(bit / 256) % proof.length;
  return proof.map((hash, index) => (index === at ? flipBit(hash, bit % 256) : hash));
}

function tamperedInclusion(claim: InclusionClaim, bit: number, what: number): InclusionClaim {
  const changes = [
    { leafHash: flipBit(claim.leafHash, bit % 256) },
    { root: flipBit(claim.root, bit % 256) },
    { proof: tamperedProof(claim.proof, bit) },
    { proof: claim.proof.slice(0, -1) },
    { index: (claim.index + 1 + (bit % (claim.size - 1))) % claim.size },
  ];
  return { ...claim, ...changes[what] };
}

function tamperedConsistency(claim: ConsistencyClaim, bit: number, what: number): ConsistencyClaim {
  const changes = [
    { fromRoot: flipBit(claim.fromRoot, bit % 256) },
    { toRoot: flipBit(claim.toRoot, bit % 256) },
    { proof: tamperedProof(claim.proof, bit) },
    { proof: claim.proof.slice(0, -1) },
    { proof: [...claim.proof, claim.toRoot] },
  ];
  return { ...claim, ...changes[what] };
}
