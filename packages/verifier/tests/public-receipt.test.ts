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

let published: { receipt: Receipt; told: PublicReceipt };
let neighbour: { receipt: Receipt; told: PublicReceipt };
beforeAll(async () => {
  [published, neighbour] = await Promise.all([publishedAt(1), publishedAt(2)]);
});

/** The receipt at a place of the log with what is told of it. */
async function publishedAt(index: number, { time = seenAt } = {}) {
  const { header, receipts } = await exportOf([chain], { time });
  const { receipt, proof } = receipts[index] ?? {};
  if (receipt === undefined || proof === undefined) throw new Error('there is no such line');
  const { log_index, tree_size, hashes } = proof;
  const [note] = header['checkpoints'] as string[]; // made by the fixture
  return { receipt, told: toldOf(receipt, { index: log_index, tree_size, hashes, note: note ?? '' } as never) }; // as above
}

function toldOf(receipt: Receipt, log: PublicReceipt['log']): PublicReceipt {
  const payload = ReceiptPayload.parse(receipt.payload);
  return publicReceiptOf({ payload, receipt_hash: receiptHashOf(receipt), key_id: receipt.signature.key_id }, log);
}

/** A log of this receipt alone: its proof is empty. */
function aloneIn(receipt: Receipt, parts: { time?: string; signer?: typeof testSigner } = {}): PublicReceipt['log'] {
  return { index: 0, tree_size: 1, hashes: [], note: noteOver([leafOf(receipt)], parts) };
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
  it('tells exactly the members of its schema', () => {
    const { receipt, told } = published;
    const { payload } = receipt;
    expect(Object.keys(told).toSorted()).toEqual(Object.keys(PublicReceipt.shape).toSorted());
    expect(told).toEqual({
      ...{ receipt_id: idOf('rcp', 2), kind: 'decision', status: 'sealed', verdict: 'DENY' },
      ...{ reason_code: 'POLICY_DENIED', issued_at: '2026-02-01T00:00:00.000Z' },
      ...{ receipt_hash: receiptHashOf(receipt), prev_hash: payload['prev_hash'], lamport_clock: 2 },
      ...{ policy_hash: hashOf('policy'), policy_epoch: 1, key_id: testSigner.keyId, log: told.log },
    });
  });

  it('says nothing of who acted, on what, and with which arguments', () => {
    const text = JSON.stringify(published.told);
    for (const name of ['tenant_id', 'principal_id', 'session_id', 'decision_id', 'record_hash', 'args_hash', 'action'])
      expect([name, text.includes(String(published.receipt.payload[name]))]).toEqual([name, false]);
    expect(text).not.toContain('mail.send');
    expect(text).not.toContain('00:00:02');
  });

  it('is not made where its log would say more than may be told', () => {
    const log = { ...published.told.log, leaf: published.receipt.payload };
    expect(() => toldOf(published.receipt, log)).toThrow('leaf');
  });

  it.each(['completed', 'failed', 'uncertain'] as const)('tells that its call has %s', (outcome) => {
    const output = outcome === 'uncertain' ? { output_hash: undefined } : {};
    const [, receipt] = settledChain({ outcome: { outcome, ...output } }).receipts;
    if (receipt === undefined) throw new Error('an outcome follows its decision');
    const told = toldOf(receipt, aloneIn(receipt));
    expect(told).toMatchObject({ kind: 'outcome', status: outcome });
    expect(told).not.toHaveProperty('output_hash');
    expect(codeOf(() => verifyOriginal(receipt, told, trust))).toBeUndefined();
  });

  it.each([
    ['2026-02-01T00:00:59.999Z', '2026-02-01T00:00:00.000Z'],
    ['2026-02-01T00:01:00.000Z', '2026-02-01T00:01:00.000Z'],
    ['2026-02-01T23:59:30.500Z', '2026-02-01T23:59:00.000Z'],
    ['1969-12-31T23:59:30.000Z', '1969-12-31T23:59:00.000Z'],
  ])('tells of %s no more than %s', (instant, minute) => {
    expect(toTheMinute(instant)).toBe(minute);
  });
});

describe('what strangers see of a receipt', () => {
  it('verifies by the log that holds it, whose checkpoint is the answer', () => {
    expect(verifyPublicReceipt(published.told, trust)).toMatchObject({ origin: logOrigin, size: 4, time: seenAt });
    expect(verifyPublicReceipt(neighbour.told, { ...trust, origin: logOrigin })).toMatchObject({ size: 4 });
  });

  it.each<[string, () => Changes]>([
    ['another receipt', () => ({ receipt_hash: neighbour.told.receipt_hash })],
    ['another place', () => ({ log: { ...published.told.log, index: 0 } })],
    ['no place in the log', () => ({ log: { ...published.told.log, index: 4 } })],
    ['a log of another size', () => ({ log: { ...published.told.log, tree_size: 5 } })],
    ['the way of another', () => ({ log: { ...published.told.log, hashes: neighbour.told.log.hashes } })],
    ['half of the way', () => ({ log: { ...published.told.log, hashes: published.told.log.hashes.slice(1) } })],
    ['a checkpoint of another log of the key', () => ({ log: { ...published.told.log, note: noteOfStrangers() } })],
  ])('is refused where it says %s', (_, changes) => {
    expect(codeOf(() => verifyPublicReceipt({ ...published.told, ...changes() }, trust))).toBe('INCLUSION_UNPROVEN');
  });

  it('is refused where an untrusted key signed the log', () => {
    const log = aloneIn(published.receipt, { signer: strangeSigner });
    expect(codeOf(() => verifyPublicReceipt({ ...published.told, log }, trust))).toBe('KEY_UNKNOWN');
    expect(codeOf(() => verifyPublicReceipt(published.told, { ...trust, trust: [] }))).toBe('KEY_UNKNOWN');
    expect(codeOf(() => verifyPublicReceipt(published.told, { ...trust, origin: 'log.example.org/other' }))).toBe(
      'CHECKPOINT_INVALID',
    );
  });

  it('is refused where it was issued later than another clock of the log says, and not before', () => {
    const at = (issued_at: string) => codeOf(() => verifyPublicReceipt({ ...published.told, issued_at }, trust));
    expect(at('2026-02-01T01:01:00.000Z')).toBeUndefined();
    expect(at('2026-02-01T01:01:00.001Z')).toBe('TIME_MISMATCH');
    expect(at('2026-02-01T01:02:00.000Z')).toBe('TIME_MISMATCH');
  });

  it.each<[string, Changes]>([
    ['more than may be told', { principal_id: 'agent-1' }],
    ['no log', { log: undefined }],
    ['no hash', { receipt_hash: 'sha256:0' }],
    ['a place that is none', { lamport_clock: 0 }],
  ])('is refused where it says %s', (_, changes) => {
    const members = Object.entries({ ...published.told, ...changes }).filter(([, value]) => value !== undefined);
    const statement = Object.fromEntries(members);
    expect(codeOf(() => verifyPublicReceipt(statement, trust))).toBe('MALFORMED');
    expect(codeOf(() => verifyOriginal(published.receipt, statement, trust))).toBe('MALFORMED');
    for (const asked of [
      () => verifyPublicReceipt(statement, trust),
      () => verifyOriginal(published.receipt, statement, trust),
    ])
      expect(asked).toThrow(/^public receipt: /);
  });
});

describe('the original of a published receipt', () => {
  it('says everything that is told of it', () => {
    for (const { receipt, told } of [published, neighbour])
      expect(codeOf(() => verifyOriginal(receipt, told, trust))).toBeUndefined();
    const stored = { ...published.receipt, receipt_hash: published.told.receipt_hash, log_index: 1 };
    expect(codeOf(() => verifyOriginal(stored, published.told, { ...trust, origin: logOrigin }))).toBeUndefined();
  });

  it('is no other receipt, though that one is in the log too', () => {
    expect(codeOf(() => verifyOriginal(neighbour.receipt, published.told, trust))).toBe('HASH_MISMATCH');
    const told = { ...neighbour.told, receipt_hash: published.told.receipt_hash };
    expect(codeOf(() => verifyOriginal(neighbour.receipt, told, trust))).toBe('HASH_MISMATCH');
    const again = sign({ ...published.receipt.payload, policy_epoch: 2 });
    expect(codeOf(() => verifyOriginal(again, published.told, trust))).toBe('HASH_MISMATCH');
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
  ])('is refused where the page says another %s: %j', (name, value) => {
    const verify = () => verifyOriginal(published.receipt, { ...published.told, [name]: value }, trust);
    expect(codeOf(verify)).toBe('SUBJECT_MISMATCH');
    expect(verify).toThrow(`the page says another ${name} than the receipt`);
  });

  it('has to be in the log that the page shows, before its key was revoked', () => {
    const { receipt, told } = published;
    const log = { ...told.log, note: noteOfStrangers() };
    expect(codeOf(() => verifyOriginal(receipt, { ...told, log }, trust))).toBe('INCLUSION_UNPROVEN');
    const unproven = { ...told, log: { ...told.log, hashes: neighbour.told.log.hashes } };
    expect(codeOf(() => verifyOriginal(receipt, unproven, trust))).toBe('INCLUSION_UNPROVEN');
    const moved = { ...told, log: { ...told.log, index: 0 } };
    expect(codeOf(() => verifyOriginal(receipt, moved, trust))).toBe('INCLUSION_UNPROVEN');
    const resized = { ...told, log: { ...told.log, tree_size: 5 } };
    expect(codeOf(() => verifyOriginal(receipt, resized, trust))).toBe('INCLUSION_UNPROVEN');
    const strange = { ...told, log: aloneIn(receipt, { signer: strangeSigner }) };
    expect(codeOf(() => verifyOriginal(receipt, strange, trust))).toBe('KEY_UNKNOWN');
    const otherLog = { ...trust, origin: 'log.example.org/other' };
    expect(codeOf(() => verifyOriginal(receipt, told, otherLog))).toBe('CHECKPOINT_INVALID');
    const revokedAt = (revoked_at: string) => trusting(testKeys({ revoked_at }));
    expect(codeOf(() => verifyOriginal(receipt, told, revokedAt(seenAt)))).toBe('KEY_REVOKED');
    expect(codeOf(() => verifyOriginal(receipt, told, revokedAt('2026-02-01T01:00:00.001Z')))).toBeUndefined();
  });

  it('has to be signed by a key that is trusted', () => {
    const { receipt, told } = published;
    const forged = { ...receipt, payload: { ...receipt.payload, policy_epoch: 2 } };
    expect(codeOf(() => verifyOriginal(forged, told, trust))).toBe('SIGNATURE_INVALID');
    const strange = sign(receipt.payload, strangeSigner);
    expect(codeOf(() => verifyOriginal(strange, told, trust))).toBe('KEY_UNKNOWN');
  });
});

/** A checkpoint of as many receipts, none of them ours. */
function noteOfStrangers(): string {
  const { receipts } = strangers;
  return noteOver([...receipts, ...receipts.slice(0, 1)].map(leafOf));
}
