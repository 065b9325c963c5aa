import { beforeAll, describe, expect, it } from '@jest/globals';
import { PublicReceipt } from '@countersign/contracts/control-plane';
import { ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, publicReceiptOf, toTheMinute, verifyOriginal, verifyPublicReceipt } from '../src/index.ts';
import {
  chainOf,
  exportOf,
  hashOf,
  idOf,
  leafOf,
  logOrigin,
  noteOver,
  receiptHashOf,
  seenAt,
  settledChain,
  sign,
  strangeSigner,
  testKeys,
  testSigner,
  type Changes,
  type Members,
  type Receipt,
} from './chain-fixture.ts';

const trusting = (keys = testKeys()) => ({ trust: parseKeySet(keys), provider: nodeProvider });
const trust = trusting();
const chain = chainOf(3);
const strangers = chainOf(3, { session: 'session-2', from: 11 });

let published: { receipt: Receipt; publicReceipt: PublicReceipt };
let neighbour: { receipt: Receipt; publicReceipt: PublicReceipt };
beforeAll(async () => {
  [published, neighbour] = await Promise.all([publishedAt(1), publishedAt(2)]);
});

/** The receipt at an index of the log, and its public view. */
async function publishedAt(index: number, { time = seenAt } = {}) {
  const { header, receipts } = await exportOf([chain], { time });
  const { receipt, proof } = receipts[index] ?? {};
  if (receipt === undefined || proof === undefined) throw new Error('there is no such line');
  const { log_index, tree_size, hashes } = proof;
  const [note] = header['checkpoints'] as string[]; // the fixture made it
  return {
    receipt,
    publicReceipt: publicOf(receipt, { index: log_index, tree_size, hashes, note: note ?? '' } as never),
  }; // as above
}

function publicOf(receipt: Receipt, log: PublicReceipt['log']): PublicReceipt {
  const payload = ReceiptPayload.parse(receipt.payload);
  return publicReceiptOf({ payload, receipt_hash: receiptHashOf(receipt), key_id: receipt.signature.key_id }, log);
}

/** A log of this receipt alone, so its proof is empty. */
function aloneIn(receipt: Receipt, deps: { time?: string; signer?: typeof testSigner } = {}): PublicReceipt['log'] {
  return { index: 0, tree_size: 1, hashes: [], note: noteOver([leafOf(receipt)], deps) };
}

function codeOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
}

describe('a published receipt', () => {
  it('contains exactly the members of its schema', () => {
    const { receipt, publicReceipt } = published;
    const { payload } = receipt;
    expect(Object.keys(publicReceipt).toSorted()).toEqual(Object.keys(PublicReceipt.shape).toSorted());
    expect(publicReceipt).toEqual({
      ...{ receipt_id: idOf('rcp', 2), kind: 'decision', status: 'sealed', verdict: 'DENY' },
      ...{ reason_code: 'POLICY_DENIED', issued_at: '2026-02-01T00:00:00.000Z' },
      ...{ receipt_hash: receiptHashOf(receipt), prev_hash: payload['prev_hash'], lamport_clock: 2 },
      ...{ policy_hash: hashOf('policy'), policy_epoch: 1, key_id: testSigner.keyId, log: publicReceipt.log },
    });
  });

  it('reveals neither caller, tool nor arguments', () => {
    const text = JSON.stringify(published.publicReceipt);
    for (const name of ['tenant_id', 'principal_id', 'session_id', 'decision_id', 'record_hash', 'args_hash', 'action'])
      expect([name, text.includes(String(published.receipt.payload[name]))]).toEqual([name, false]);
    expect(text).not.toContain('mail.send');
    expect(text).not.toContain('00:00:02');
  });

  it('is refused when its log would reveal more than allowed', () => {
    const log = { ...published.publicReceipt.log, leaf: published.receipt.payload };
    expect(() => publicOf(published.receipt, log)).toThrow('leaf');
  });

  it.each(['completed', 'failed', 'uncertain'] as const)('reveals the outcome of its call: %s', (outcome) => {
    const output = outcome === 'uncertain' ? { output_hash: undefined } : {};
    const [, receipt] = settledChain({ outcome: { outcome, ...output } }).receipts;
    if (receipt === undefined) throw new Error('an outcome follows its decision');
    const report = publicOf(receipt, aloneIn(receipt));
    expect(report).toMatchObject({ kind: 'outcome', status: outcome });
    expect(report).not.toHaveProperty('output_hash');
    expect(codeOf(() => verifyOriginal(receipt, report, trust))).toBeUndefined();
  });

  it.each([
    ['2026-02-01T00:00:59.999Z', '2026-02-01T00:00:00.000Z'],
    ['2026-02-01T00:01:00.000Z', '2026-02-01T00:01:00.000Z'],
    ['2026-02-01T23:59:30.500Z', '2026-02-01T23:59:00.000Z'],
    ['1969-12-31T23:59:30.000Z', '1969-12-31T23:59:00.000Z'],
  ])('shortens %s to %s', (instant, minute) => {
    expect(toTheMinute(instant)).toBe(minute);
  });
});

describe('the public view of a receipt', () => {
  it('verifies with the log that contains it, and returns its checkpoint', () => {
    expect(verifyPublicReceipt(published.publicReceipt, trust)).toMatchObject({
      origin: logOrigin,
      size: 4,
      time: seenAt,
    });
    expect(verifyPublicReceipt(neighbour.publicReceipt, { ...trust, origin: logOrigin })).toMatchObject({ size: 4 });
  });

  it.each<[string, () => Changes]>([
    ['another receipt', () => ({ receipt_hash: neighbour.publicReceipt.receipt_hash })],
    ['a different index in the log', () => ({ log: { ...published.publicReceipt.log, index: 0 } })],
    ['an index outside the log', () => ({ log: { ...published.publicReceipt.log, index: 4 } })],
    ['a log of another size', () => ({ log: { ...published.publicReceipt.log, tree_size: 5 } })],
    [
      'the hashes of another receipt',
      () => ({ log: { ...published.publicReceipt.log, hashes: neighbour.publicReceipt.log.hashes } }),
    ],
    [
      'half of the hashes',
      () => ({ log: { ...published.publicReceipt.log, hashes: published.publicReceipt.log.hashes.slice(1) } }),
    ],
    [
      'a checkpoint of another log with the same key',
      () => ({ log: { ...published.publicReceipt.log, note: noteOfStrangers() } }),
    ],
  ])('is refused with %s', (_, changes) => {
    expect(codeOf(() => verifyPublicReceipt({ ...published.publicReceipt, ...changes() }, trust))).toBe(
      'INCLUSION_UNPROVEN',
    );
  });

  it('is refused if an untrusted key signed the log', () => {
    const log = aloneIn(published.receipt, { signer: strangeSigner });
    expect(codeOf(() => verifyPublicReceipt({ ...published.publicReceipt, log }, trust))).toBe('KEY_UNKNOWN');
    expect(codeOf(() => verifyPublicReceipt(published.publicReceipt, { ...trust, trust: [] }))).toBe('KEY_UNKNOWN');
    expect(
      codeOf(() => verifyPublicReceipt(published.publicReceipt, { ...trust, origin: 'log.example.org/other' })),
    ).toBe('CHECKPOINT_INVALID');
  });

  it('is refused if it was issued more than a minute after the checkpoint', () => {
    const at = (issued_at: string) =>
      codeOf(() => verifyPublicReceipt({ ...published.publicReceipt, issued_at }, trust));
    expect(at('2026-02-01T01:01:00.000Z')).toBeUndefined();
    expect(at('2026-02-01T01:01:00.001Z')).toBe('TIME_MISMATCH');
    expect(at('2026-02-01T01:02:00.000Z')).toBe('TIME_MISMATCH');
  });

  it.each<[string, Changes]>([
    ['a member that is not public', { principal_id: 'agent-1' }],
    ['no log', { log: undefined }],
    ['a malformed hash', { receipt_hash: 'sha256:0' }],
    ['a Lamport clock of 0', { lamport_clock: 0 }],
  ])('is refused as malformed with %s', (_, changes) => {
    const members = Object.entries({ ...published.publicReceipt, ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    const statement = Object.fromEntries(members);
    expect(codeOf(() => verifyPublicReceipt(statement, trust))).toBe('MALFORMED');
    expect(codeOf(() => verifyOriginal(published.receipt, statement, trust))).toBe('MALFORMED');
    for (const ask of [
      () => verifyPublicReceipt(statement, trust),
      () => verifyOriginal(published.receipt, statement, trust),
    ])
      expect(ask).toThrow(/^public receipt: /);
  });
});

describe('the original of a published receipt', () => {
  it('matches its public view', () => {
    for (const { receipt, publicReceipt } of [published, neighbour])
      expect(codeOf(() => verifyOriginal(receipt, publicReceipt, trust))).toBeUndefined();
    const stored = { ...published.receipt, receipt_hash: published.publicReceipt.receipt_hash, log_index: 1 };
    expect(
      codeOf(() => verifyOriginal(stored, published.publicReceipt, { ...trust, origin: logOrigin })),
    ).toBeUndefined();
  });

  it('cannot be another receipt, even one from the same log', () => {
    expect(codeOf(() => verifyOriginal(neighbour.receipt, published.publicReceipt, trust))).toBe('HASH_MISMATCH');
    const report = { ...neighbour.publicReceipt, receipt_hash: published.publicReceipt.receipt_hash };
    expect(codeOf(() => verifyOriginal(neighbour.receipt, report, trust))).toBe('HASH_MISMATCH');
    const again = sign({ ...published.receipt.payload, policy_epoch: 2 });
    expect(codeOf(() => verifyOriginal(again, published.publicReceipt, trust))).toBe('HASH_MISMATCH');
  });

  it.each<[string, Members[string]]>([
    ['receipt_id', idOf('rcp', 3)],
    ['kind', 'policy'],
    ['status', 'completed'],
    ['verdict', 'ALLOW'],
    ['reason_code', 'ALLOWED'],
    ['issued_at', '2026-02-01T00:00:02.000Z'],
    ['issued_at', '2026-02-01T00:01:00.000Z'],
    ['prev_hash', hashOf('another')],
    ['prev_hash', null],
    ['lamport_clock', 3],
    ['policy_hash', hashOf('another')],
    ['policy_hash', null],
    ['policy_epoch', 2],
    ['key_id', strangeSigner.keyId],
  ])('is refused if the page shows another %s: %j', (name, value) => {
    const verify = () => verifyOriginal(published.receipt, { ...published.publicReceipt, [name]: value }, trust);
    expect(codeOf(verify)).toBe('SUBJECT_MISMATCH');
    expect(verify).toThrow(`the published receipt and this receipt differ in ${name}`);
  });

  it('must be in the log on the page, at a time before its key was revoked', () => {
    const { receipt, publicReceipt } = published;
    const log = { ...publicReceipt.log, note: noteOfStrangers() };
    expect(codeOf(() => verifyOriginal(receipt, { ...publicReceipt, log }, trust))).toBe('INCLUSION_UNPROVEN');
    const unproven = { ...publicReceipt, log: { ...publicReceipt.log, hashes: neighbour.publicReceipt.log.hashes } };
    expect(codeOf(() => verifyOriginal(receipt, unproven, trust))).toBe('INCLUSION_UNPROVEN');
    const moved = { ...publicReceipt, log: { ...publicReceipt.log, index: 0 } };
    expect(codeOf(() => verifyOriginal(receipt, moved, trust))).toBe('INCLUSION_UNPROVEN');
    const resized = { ...publicReceipt, log: { ...publicReceipt.log, tree_size: 5 } };
    expect(codeOf(() => verifyOriginal(receipt, resized, trust))).toBe('INCLUSION_UNPROVEN');
    const strange = { ...publicReceipt, log: aloneIn(receipt, { signer: strangeSigner }) };
    expect(codeOf(() => verifyOriginal(receipt, strange, trust))).toBe('KEY_UNKNOWN');
    const otherLog = { ...trust, origin: 'log.example.org/other' };
    expect(codeOf(() => verifyOriginal(receipt, publicReceipt, otherLog))).toBe('CHECKPOINT_INVALID');
    const revokedAt = (revoked_at: string) => trusting(testKeys({ revoked_at }));
    expect(codeOf(() => verifyOriginal(receipt, publicReceipt, revokedAt(seenAt)))).toBe('KEY_REVOKED');
    expect(codeOf(() => verifyOriginal(receipt, publicReceipt, revokedAt('2026-02-01T01:00:00.001Z')))).toBeUndefined();
  });

  it('must be signed by a trusted key', () => {
    const { receipt, publicReceipt } = published;
    const forged = { ...receipt, payload: { ...receipt.payload, policy_epoch: 2 } };
    expect(codeOf(() => verifyOriginal(forged, publicReceipt, trust))).toBe('SIGNATURE_INVALID');
    const strange = sign(receipt.payload, strangeSigner);
    expect(codeOf(() => verifyOriginal(strange, publicReceipt, trust))).toBe('KEY_UNKNOWN');
  });
});

/** A checkpoint of a log that has the same size as the log of `published`, but contains other receipts. */
function noteOfStrangers(): string {
  const { receipts } = strangers;
  return noteOver([...receipts, ...receipts.slice(0, 1)].map(leafOf));
}
