import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { consistencyProof, decodeHex, encodeBase64, leafHash, parseStrictJson, rootOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import {
  parseKeySet,
  verifyChain,
  verifyConsistency,
  verifyExport,
  verifyInclusion,
  verifyReceipt,
  verifyRecord,
} from '../src/index.ts';
import { runCli } from '../src/cli.ts';
import {
  ORIGIN,
  chainOf,
  chainOfRecords,
  exportOf,
  hashOf,
  idOf,
  noteOver,
  recordOf,
  settledChain,
  sign,
  testKeys,
} from './chain-fixture.ts';
import type { Members, Receipt } from './chain-fixture.ts';

const trust = parseKeySet(testKeys());
const options = { trust, provider: nodeProvider };
const chain = chainOf(6);
const head = hashOf(chain.receipts.at(-1)?.payload ?? null);

describe('verifyChain', () => {
  verifies('kn.chain', 'a changed byte anywhere in an exported chain is detected', () => {
    const bytes = Buffer.from(JSON.stringify({ format: 'countersign/chain-export.v1', receipts: chainOf(3).receipts }));
    expect(verdictOf(bytes)).toBe('VERIFIED');
    for (const at of bytes.keys()) expectDetected(bytes, at, (bytes[at] ?? 0) ^ (1 << (at % 8)));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        expectDetected(bytes, at, (bytes[at] ?? 0) ^ mask);
      }),
      { numRuns: 500 },
    );
  });

  verifies('kn.chain', 'removed receipts are detected wherever they stood, the last ones against a known head', () => {
    const { receipts } = chain;
    fc.assert(
      fc.property(fc.subarray(receipts, { maxLength: receipts.length - 1 }), (kept) => {
        expect(verifyChain(kept, { ...options, heads: [head] })).toMatchObject({ integrity: 'BROKEN' });
      }),
    );
  });

  verifies('kn.chain', 'reordered receipts are detected', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(chain.receipts, { minLength: chain.receipts.length }), (shuffled) => {
        fc.pre(shuffled.some((receipt, index) => receipt !== chain.receipts[index]));
        expect(verifyChain(shuffled, options).integrity).toBe('BROKEN');
      }),
    );
  });

  verifies('kn.chain', 'an inserted receipt is detected, even one that the signing key itself made', () => {
    const strangers = chainOf(6, { from: 100 }).receipts;
    fc.assert(
      fc.property(fc.nat(6), fc.constantFrom(...strangers), fc.boolean(), (at, stranger, relinked) => {
        const inserted = relinked ? linkedAfter(chain.receipts[at - 1], stranger) : stranger;
        const longer = [...chain.receipts.slice(0, at), inserted, ...chain.receipts.slice(at)];
        expect(verifyChain(longer, { ...options, heads: [head] }).integrity).toBe('BROKEN');
      }),
    );
  });

  verifies('kn.chain', 'a receipt that the signing key put in the place of another is detected', () => {
    for (const [at, { payload }] of chain.receipts.entries()) {
      const replaced = chain.receipts.with(at, sign({ ...payload, verdict: 'ALLOW', reason_code: 'ALLOWED' }));
      expect(verifyChain(replaced, { ...options, heads: [head] })).toMatchObject({ integrity: 'BROKEN' });
    }
  });

  it('says that an end is unproven unless the head is known', () => {
    const cut = chain.receipts.slice(0, 4);
    expect(verifyChain(cut, options)).toMatchObject({
      integrity: 'VERIFIED',
      receipts: 4,
      chains: [{ first: 1, last: 4, start: 'PROVEN', end: 'UNPROVEN' }],
    });
    expect(verifyChain(chain.receipts, { ...options, heads: [head] }).chains).toMatchObject([{ end: 'PROVEN' }]);
  });

  it('accepts a part of a chain only when asked to, and says that its start is unproven', () => {
    const part = chain.receipts.slice(2);
    expect(verifyChain(part, options)).toMatchObject({
      integrity: 'BROKEN',
      first_broken: { index: 0, code: 'CHAIN_GAP' },
    });
    expect(verifyChain(part, { ...options, partial: true })).toMatchObject({
      integrity: 'VERIFIED',
      chains: [{ first: 3, last: 6, start: 'UNPROVEN' }],
    });
  });
});

describe('verifyReceipt', () => {
  const [receipt] = chain.receipts;
  it('holds a stored hash against the payload', () => {
    const stored = { ...receipt, receipt_hash: hashOf(receipt?.payload ?? null), log_index: 0 };
    expect(verifyReceipt(stored, trust, nodeProvider).receipt_hash).toBe(stored.receipt_hash);
    expect(() => verifyReceipt({ ...stored, receipt_hash: head }, trust, nodeProvider)).toThrow(
      expect.objectContaining({ code: 'HASH_MISMATCH' }),
    );
  });

  it.each([
    null,
    'text',
    [],
    {},
    { payload: null, signature: null },
    {
      payload: {
        get type() {
          return 'x';
        },
      },
      signature: {},
    },
  ])('refuses %j as malformed', (value) => {
    expect(() => verifyReceipt(value, trust, nodeProvider)).toThrow(expect.objectContaining({ code: 'MALFORMED' }));
  });

  it.each([
    { keys: [{}] },
    { keys: 'x' },
    testKeys({ valid_from: 'soon' }),
    testKeys({ valid_from: null }),
    { keys: [...testKeys().keys, ...testKeys().keys] },
    testKeys({ d: 'secret' }),
  ])('refuses the key set %j', (jwks) => {
    expect(() => parseKeySet(jwks)).toThrow(expect.objectContaining({ code: 'MALFORMED' }));
  });
});

describe('verifyReceipt of one receipt alone', () => {
  it.each([
    [
      'a decision that settles a receipt',
      chainOfRecords([recordOf(1)], { 1: { decision_receipt_id: idOf('rcp', 1) } }),
    ],
    ['an outcome of two decisions', settledChain({ outcome: { decision_id: idOf('dec', 2) } })],
  ])('refuses %s', (_what, { receipts }) => {
    const refused = () => verifyReceipt(receipts.at(-1), trust, nodeProvider);
    expect(refused).toThrow(expect.objectContaining({ code: 'LINK_MISMATCH' }));
  });

  it('accepts an outcome in a part of a chain that does not reach back to its decision', () => {
    const { receipts } = settledChain();
    expect(verifyChain(receipts.slice(1), { ...options, partial: true }).integrity).toBe('VERIFIED');
    expect(verifyChain(receipts, options).integrity).toBe('VERIFIED');
  });
});

describe('log proofs', () => {
  it('prove that a receipt is in the log and that the log only grew', async () => {
    const exported = (await exportOf([chain])) as unknown as {
      proofs: { log_index: number; tree_size: number; hashes: string[] }[];
      checkpoint: { note: string };
    };
    const [proof] = exported.proofs;
    if (proof === undefined) throw new Error('no proof');
    expect(() =>
      verifyInclusion({
        receipt: chain.receipts[0],
        proof,
        checkpoint: exported.checkpoint.note,
        origin: ORIGIN,
        ...options,
      }),
    ).not.toThrow();
    expect(() =>
      verifyInclusion({
        receipt: chain.receipts[0],
        proof,
        checkpoint: exported.checkpoint.note,
        origin: 'other',
        ...options,
      }),
    ).toThrow(expect.objectContaining({ code: 'CHECKPOINT_INVALID' }));
    expect(() =>
      verifyInclusion({ receipt: chain.receipts[1], proof, checkpoint: exported.checkpoint.note, ...options }),
    ).toThrow(expect.objectContaining({ code: 'INCLUSION_UNPROVEN' }));
    const leaves = chain.receipts.map(({ payload }) => leafHash(nodeProvider, decodeHex(hashOf(payload).slice(7))));
    const perfect = async (level: number, node: number) =>
      rootOf(nodeProvider, leaves.slice(node * 2 ** level, (node + 1) * 2 ** level));
    const hashes = (await consistencyProof(nodeProvider, perfect, { from: 3, to: 6 })).map(encodeBase64);
    const to = noteOver(leaves);
    expect(() => verifyConsistency({ from: noteOver(leaves.slice(0, 3)), to, hashes, ...options })).not.toThrow();
    expect(() => verifyConsistency({ from: noteOver(leaves.slice(1, 4)), to, hashes, ...options })).toThrow(
      expect.objectContaining({ code: 'CONSISTENCY_UNPROVEN' }),
    );
  });
});

describe('verifyRecord', () => {
  it('accepts exactly the record that the receipt seals', () => {
    expect(() => verifyRecord(chain.records[0], chain.receipts[0], nodeProvider)).not.toThrow();
    expect(() => verifyRecord(chain.records[1], chain.receipts[0], nodeProvider)).toThrow(
      expect.objectContaining({ code: 'LINK_MISMATCH' }),
    );
  });
});

describe('countersign-verify', () => {
  it('exits 0 for a verified export, 1 for one that is not, 2 when it cannot run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-verify-'));
    const file = (name: string, text: string) => (writeFileSync(join(folder, name), text), join(folder, name));
    const good = JSON.stringify(await exportOf([chain]));
    const keys = file('keys.json', JSON.stringify(testKeys()));
    expect(run([file('good.json', good), '--keys', keys, '--head', head])).toEqual([
      0,
      expect.stringContaining('END_PROVEN'),
    ]);
    expect(run([file('bad.json', good.replace('"DENY"', '"ALLOW"')), '--keys', keys])).toEqual([
      1,
      expect.stringMatching(/^SIGNATURE_INVALID: .*receipt 1 of/),
    ]);
    expect(run([file('bad.json', good.replace('{', '{"format":"x",')), '--keys', keys, '--json'])).toEqual([
      1,
      expect.stringContaining('"code":"MALFORMED"'),
    ]);
    expect(run([join(folder, 'absent.json'), '--keys', keys])[0]).toBe(2);
    expect(run([])[0]).toBe(2);
    rmSync(folder, { recursive: true });
  });
});

function run(argv: string[]): [number, string] {
  let output = '';
  const status = runCli(argv, (text) => (output += text));
  return [status, output];
}

function expectDetected(bytes: Buffer, at: number, value: number): void {
  const changed = Buffer.from(bytes);
  changed[at] = value;
  if (verdictOf(changed) === 'VERIFIED') throw new Error(`byte ${at} may become ${value}`);
}

function verdictOf(bytes: Uint8Array): string {
  let value: unknown;
  try {
    value = parseStrictJson(bytes, { bytesMax: 1_000_000, depthMax: 64 });
  } catch {
    return 'MALFORMED';
  }
  return verifyExport(value, options).verdict;
}

function linkedAfter(previous: Receipt | undefined, { payload }: Receipt): Receipt {
  const place: Members =
    previous === undefined
      ? { lamport_clock: 1, prev_hash: null }
      : { lamport_clock: Number(previous.payload['lamport_clock']) + 1, prev_hash: hashOf(previous.payload) };
  return sign({ ...payload, ...place });
}
