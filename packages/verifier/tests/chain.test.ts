import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { canonicalize, formatCheckpoint, rootOf, signNote } from '@countersign/crypto';
import type { JsonValue } from '@countersign/crypto';
import { argumentsDepthMax } from '@countersign/contracts';
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
import {
  logOrigin,
  chainOf,
  chainOfRecords,
  consistencyOf,
  exportOf,
  hashOf,
  headOf,
  idOf,
  jwkOf,
  leafOf,
  linesOf,
  logSigner,
  noteOver,
  receiptHashOf,
  recordOf,
  seenAt,
  settledChain,
  sign,
  testKeys,
  testSigner,
} from './chain-fixture.ts';
import type { Members, Receipt } from './chain-fixture.ts';

const trust = parseKeySet(testKeys());
const options = { trust, provider: nodeProvider };
const chain = chainOf(6);
const bareLines = linesOf({
  header: { format: 'countersign/chain-export.v2', checkpoints: [], consistency: [] },
  heads: [],
  receipts: chainOf(3).receipts.map((receipt) => ({ receipt })),
});
const head = headHash(chain.receipts);

describe('verifyChain', () => {
  verifies('kn.chain', 'detects a changed byte anywhere in an exported chain', () => {
    const bytes = Buffer.from(bareLines.join('\n'));
    expect(verdictOf(bytes)).toBe('VERIFIED');
    for (const at of bytes.keys()) expectDetected(bytes, at, (bytes[at] ?? 0) ^ (1 << (at % 8)));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        expectDetected(bytes, at, (bytes[at] ?? 0) ^ mask);
      }),
      { numRuns: 500 },
    );
  });

  verifies('kn.chain', 'detects removed receipts at any place, and at the end with a known head', () => {
    const { receipts } = chain;
    fc.assert(
      fc.property(fc.subarray(receipts, { maxLength: receipts.length - 1 }), (kept) => {
        expect(verifyChain(kept, { ...options, heads: [head] })).toMatchObject({ integrity: 'BROKEN' });
      }),
    );
  });

  verifies('kn.chain', 'detects reordered receipts', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(chain.receipts, { minLength: chain.receipts.length }), (shuffled) => {
        fc.pre(shuffled.some((receipt, index) => receipt !== chain.receipts[index]));
        expect(verifyChain(shuffled, options).integrity).toBe('BROKEN');
      }),
    );
  });

  verifies('kn.chain', 'detects an inserted receipt, even if the signing key made it', () => {
    const strangers = chainOf(6, { from: 100 }).receipts;
    fc.assert(
      fc.property(fc.nat(6), fc.constantFrom(...strangers), fc.boolean(), (at, stranger, relinked) => {
        const inserted = relinked ? linkedAfter(chain.receipts[at - 1], stranger) : stranger;
        const longer = [...chain.receipts.slice(0, at), inserted, ...chain.receipts.slice(at)];
        expect(verifyChain(longer, { ...options, heads: [head] }).integrity).toBe('BROKEN');
      }),
    );
  });

  verifies('kn.chain', 'detects a receipt that replaces another, even if the signing key made it', () => {
    for (const [at, { payload }] of chain.receipts.entries()) {
      const replaced = chain.receipts.with(at, sign({ ...payload, verdict: 'ALLOW', reason_code: 'ALLOWED' }));
      expect(verifyChain(replaced, { ...options, heads: [head] })).toMatchObject({ integrity: 'BROKEN' });
    }
  });

  it('reports an end as unproven unless the head is known', () => {
    const cut = chain.receipts.slice(0, 4);
    expect(verifyChain(cut, options)).toMatchObject({
      integrity: 'VERIFIED',
      receipts: 4,
      chains: [{ first: 1, last: 4, start: 'PROVEN', end: 'UNPROVEN' }],
    });
    expect(verifyChain(chain.receipts, { ...options, heads: [head] }).chains).toMatchObject([{ end: 'PROVEN' }]);
  });

  it('accepts a part of a chain only on request, and reports its start as unproven', () => {
    const piece = chain.receipts.slice(2);
    expect(verifyChain(piece, options)).toMatchObject({
      integrity: 'BROKEN',
      first_broken: { index: 0, code: 'CHAIN_GAP' },
    });
    expect(verifyChain(piece, { ...options, partial: true })).toMatchObject({
      integrity: 'VERIFIED',
      chains: [{ first: 3, last: 6, start: 'UNPROVEN' }],
    });
  });
});

describe('verifyReceipt', () => {
  const [receipt] = chain.receipts;
  it('compares a stored hash with payload and signature', () => {
    const stored = { ...receipt, receipt_hash: headHash(receipt ? [receipt] : []), log_index: 0 };
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

  it('refuses an object with inherited members, which schemas and hashes would ignore', () => {
    const [genuine] = chain.receipts;
    const payload: object = Object.assign(Object.create({ verdict: 'DENY' }) as object, genuine?.payload);
    expect(() => verifyReceipt({ ...genuine }, trust, nodeProvider)).not.toThrow();
    expect(() => verifyReceipt({ ...genuine, payload }, trust, nodeProvider)).toThrow(
      expect.objectContaining({ code: 'MALFORMED' }),
    );
  });

  it.each([
    { keys: [{}] },
    { keys: 'x' },
    testKeys({ valid_from: 'soon' }),
    testKeys({ valid_from: null }),
    { keys: [...testKeys().keys, ...testKeys().keys] },
    { keys: [jwkOf(testSigner, 'receipts'), { ...jwkOf(testSigner, 'log'), kid: 'log' }] },
    {
      keys: [
        { ...jwkOf(testSigner, 'receipts'), kid: 'a', revoked_at: '2026-01-02T00:00:00.000Z' },
        jwkOf(testSigner, 'receipts'),
      ],
    },
    testKeys({ d: 'secret' }),
  ])('refuses the key set %j', (jwks) => {
    expect(() => parseKeySet(jwks)).toThrow(expect.objectContaining({ code: 'MALFORMED' }));
  });
});

describe('verifyReceipt for a single receipt', () => {
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

  it('accepts an outcome in a part of a chain that does not contain its decision', () => {
    const { receipts } = settledChain();
    expect(verifyChain(receipts.slice(1), { ...options, partial: true }).integrity).toBe('VERIFIED');
    expect(verifyChain(receipts, options).integrity).toBe('VERIFIED');
  });
});

describe('log proofs', () => {
  it('prove that a receipt is in the log, and that the log only grew', async () => {
    const { header, receipts } = await exportOf([chain], { heads: false });
    const [checkpoint = ''] = header['checkpoints'] as string[]; // exportOf signs one
    const proof = receipts[0]?.proof as { log_index: number; tree_size: number; hashes: string[] }; // one for each
    const included = (at: number, origin = logOrigin) =>
      verifyInclusion({ receipt: chain.receipts[at], proof, checkpoint, origin, ...options });
    expect(() => included(0)).not.toThrow();
    expect(() => included(0, 'other')).toThrow(expect.objectContaining({ code: 'CHECKPOINT_INVALID' }));
    expect(() => included(1)).toThrow(expect.objectContaining({ code: 'INCLUSION_UNPROVEN' }));
    const leaves = chain.receipts.map(leafOf);
    const hashes = await consistencyOf(leaves, 3);
    const to = noteOver(leaves);
    expect(() => verifyConsistency({ from: noteOver(leaves.slice(0, 3)), to, hashes, ...options })).not.toThrow();
    expect(() => verifyConsistency({ from: noteOver(leaves.slice(1, 4)), to, hashes, ...options })).toThrow(
      expect.objectContaining({ code: 'CONSISTENCY_UNPROVEN' }),
    );
    const unknown = { ...options, trust: trust.filter(({ purpose }) => purpose !== 'log') };
    expect(() => verifyConsistency({ from: to, to, hashes: [], ...unknown })).toThrow(
      expect.objectContaining({ code: 'KEY_UNKNOWN' }),
    );
    const damaged = to.replace(/\n6\n/, '\n7\n');
    expect(() => verifyConsistency({ from: damaged, to, hashes: [], ...options })).toThrow(
      expect.objectContaining({ code: 'CHECKPOINT_INVALID' }),
    );
  });

  it('must be signed by the key of the named log, not by the key of another trusted log', () => {
    const otherOrigin = 'log.example/other';
    const both = parseKeySet({
      keys: [jwkOf(logSigner, 'log'), { ...jwkOf(testSigner, 'log'), log_origin: otherOrigin }],
    });
    const root = rootOf(nodeProvider, chain.receipts.map(leafOf));
    const noteOf = (origin: string) => {
      const text = formatCheckpoint({ origin, size: chain.receipts.length, root, time: seenAt });
      return signNote(nodeProvider, text, [{ name: otherOrigin, signer: testSigner }]);
    };
    const opened = (note: string) => () =>
      verifyConsistency({ from: note, to: note, hashes: [], ...options, trust: both });
    expect(opened(noteOf(otherOrigin))).not.toThrow();
    expect(opened(noteOf(logOrigin))).toThrow(expect.objectContaining({ code: 'KEY_UNKNOWN' }));
  });
});

describe('verifyRecord', () => {
  it('accepts only the record that the receipt seals', () => {
    expect(() => verifyRecord(chain.records[0], chain.receipts[0], nodeProvider)).not.toThrow();
    expect(() => verifyRecord(chain.records[1], chain.receipts[0], nodeProvider)).toThrow(
      expect.objectContaining({ code: 'LINK_MISMATCH' }),
    );
  });
});

describe('verifyExport', () => {
  it('accepts the canonical text of records with any facts', async () => {
    const json = fc.jsonValue({ maxDepth: argumentsDepthMax - 1, stringUnit: 'binary' });
    const numbers = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => Math.trunc(value) || value);
    const nested = fc
      .integer({ min: 1, max: argumentsDepthMax })
      .map((depth) => JSON.parse('['.repeat(depth) + ']'.repeat(depth)) as unknown);
    const facts = fc.dictionary(fc.string(), fc.oneof(json, numbers, nested), { maxKeys: 4, minKeys: 1 });
    await fc.assert(
      fc.asyncProperty(facts, async (sealed) => {
        fc.pre(!JSON.stringify(sealed).includes('__proto__'));
        const record = recordOf(1, { intent: { facts: sealed as JsonValue } });
        const { header, heads, receipts } = await exportOf([chainOfRecords([record])]);
        const lines = [header, ...heads, ...receipts].map((line) => canonicalize(line as unknown as JsonValue));
        expect(verifyExport(lines, options)).toMatchObject({ verdict: 'VERIFIED', fault: null });
      }),
      { numRuns: 60 },
    );
  });

  it('gives four answers with their basis', async () => {
    const report = verifyExport(linesOf(await exportOf([chain])), options);
    expect(report).toMatchObject({
      ...{ verdict: 'VERIFIED', integrity: 'VERIFIED', completeness: 'COMPLETE', signer: 'TRUSTED', time: 'LOGGED' },
      ...{ receipts: 6, records: 6, proofs: 6, heads: 1, missing: [] },
      chains: [{ first: 1, last: 6, start: 'PROVEN', end: 'PROVEN', end_as_of: '2026-02-01T00:20:00.000Z' }],
    });
  });

  it('requires only the requested answers for its verdict, and still reports the others', async () => {
    const { header, receipts } = await exportOf([chain], { heads: false });
    const lines = linesOf({ header, heads: [], receipts: receipts.map(({ receipt }) => ({ receipt })) });
    const ask = (require: ('integrity' | 'completeness' | 'time')[]) =>
      verifyExport(lines, { ...options, require, heads: [head] });
    expect(ask(['integrity'])).toMatchObject({ verdict: 'VERIFIED', completeness: 'INCOMPLETE', time: 'CLAIMED' });
    expect(ask(['completeness']).verdict).toBe('INCOMPLETE');
    expect(ask(['time']).verdict).toBe('INCOMPLETE');
  });

  it('reports a missing end, accepts a part only on request, and uses a known head', async () => {
    const whole = await exportOf([chain]);
    const cut = (from: number, to: number) => linesOf({ ...whole, receipts: whole.receipts.slice(from, to) });
    expect(verifyExport(cut(0, 4), options)).toMatchObject({
      verdict: 'INCOMPLETE',
      chains: [{ last: 4, end: 'CUT' }],
    });
    expect(verifyExport(cut(2, 4), options).fault?.code).toBe('CHAIN_GAP');
    expect(verifyExport(cut(2, 4), { ...options, partial: true }).verdict).toBe('VERIFIED');
    expect(verifyExport(cut(0, 6), { ...options, heads: [head] }).verdict).toBe('VERIFIED');
    expect(verifyExport(cut(0, 6), { ...options, heads: [hashOf('another')] }).verdict).toBe('INCOMPLETE');
  });

  it('accepts an older head as the end of a longer chain only if the caller knows that end', async () => {
    const early = headOf({ receipts: chain.receipts.slice(0, 1), records: [] });
    const sealed = { receipts: [...chain.receipts, early.receipt], records: [...chain.records, early.record] };
    const { header, receipts } = await exportOf([sealed], { heads: false });
    const until = (last: number) =>
      linesOf({ header, heads: receipts.slice(6).map((line) => ({ head: line })), receipts: receipts.slice(0, last) });
    expect(verifyExport(until(1), options)).toMatchObject({ verdict: 'VERIFIED', chains: [{ end: 'PROVEN' }] });
    expect(verifyExport(until(3), options)).toMatchObject({
      ...{ verdict: 'INCOMPLETE', completeness: 'INCOMPLETE' },
      chains: [{ last: 3, end: 'UNPROVEN', end_as_of: null, stated_end: 1 }],
    });
    expect(verifyExport(until(6), { ...options, heads: [head] })).toMatchObject({
      verdict: 'VERIFIED',
      chains: [{ last: 6, end: 'PROVEN', end_as_of: null }],
    });
  });

  it('refuses an export of another tenant or session than requested', async () => {
    const lines = linesOf(await exportOf([chain]));
    const verdictFor = (subject: object) => verifyExport(lines, { ...options, ...subject }).fault?.code ?? 'VERIFIED';
    expect(verdictFor({ tenant: 'acme', session: 'session-1' })).toBe('VERIFIED');
    expect([verdictFor({ tenant: 'globex' }), verdictFor({ session: 'session-2' })]).toEqual(
      Array(2).fill('SUBJECT_MISMATCH'),
    );
  });

  it.each([
    ['nine megabytes of {}', '{}'.repeat(4_700_000), 'TOO_LARGE', 'more than'],
    ['nine megabytes of {} as lines', '{}', 'MALFORMED', 'header'],
    [
      'a list of empty objects instead of notes',
      `{"format":"countersign/chain-export.v2","checkpoints":[${'{},'.repeat(90_000)}{}]}`,
      ...['MALFORMED', 'more than 50000 items'],
    ],
    [
      'an object of unknown members',
      `{${Array.from({ length: 90_000 }, (_, at) => `"m${at}":{}`).join()}}`,
      ...['MALFORMED', 'more than 50000 items'],
    ],
  ])('refuses a huge first line: %s', (_what, line, code, message) => {
    const { fault } = verifyExport([line], options);
    expect(fault).toMatchObject({ code, line: 1, message: expect.stringContaining(message ?? '') });
  });
});

function expectDetected(bytes: Buffer, at: number, value: number): void {
  const changed = Buffer.from(bytes);
  changed[at] = value;
  if (verdictOf(changed) === 'VERIFIED') throw new Error(`byte ${at} may become ${value}`);
}

/** Checks only integrity: a changed byte must not pass as the same chain. */
function verdictOf(bytes: Uint8Array): string {
  const lines = Buffer.from(bytes).toString('latin1').split('\n');
  const report = verifyExport(
    lines.map((line) => Buffer.from(line, 'latin1')),
    { ...options, require: ['integrity'], heads: [] },
  );
  return report.receipts === 3 ? report.verdict : 'INCOMPLETE';
}

function linkedAfter(previous: Receipt | undefined, { payload }: Receipt): Receipt {
  const place: Members =
    previous === undefined
      ? { lamport_clock: 1, prev_hash: null }
      : { lamport_clock: Number(previous.payload['lamport_clock']) + 1, prev_hash: receiptHashOf(previous) };
  return sign({ ...payload, ...place });
}

function headHash(receipts: Receipt[]): string {
  const last = receipts.at(-1);
  return last === undefined ? '' : receiptHashOf(last);
}
