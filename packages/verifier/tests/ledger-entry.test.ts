import { describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyLedgerEntry } from '../src/index.ts';
import {
  chainOf,
  leafOf,
  noteOver,
  receiptHashOf,
  strangeSigner,
  testKeys,
  testSigner,
  type Members,
  type Receipt,
} from './chain-fixture.ts';

const revokedAt = '2026-02-01T02:00:00.000Z';
const before = '2026-02-01T01:59:59.999Z';
const trust = parseKeySet(testKeys());
const distrust = parseKeySet(testKeys({ revoked_at: revokedAt }));
const [receipt, second] = chainOf(2).receipts as [Receipt, Receipt]; // chainOf returns two
const verified = { payload: receipt.payload, receipt_hash: receiptHashOf(receipt), key_id: testSigner.keyId };
const proof = { log_index: 0, tree_size: 1, hashes: [] };

function witnessAt(time: string, changes: Members = {}): Members {
  return { proof, checkpoint: noteOver([leafOf(receipt)], { time }), ...changes };
}

function codeOf(entry: { receipt: unknown; witness?: unknown }, keys = distrust): unknown {
  try {
    verifyLedgerEntry(entry, keys, nodeProvider);
  } catch (error) {
    return (error as { code?: string }).code;
  }
  return undefined;
}

describe('an entry of the ledger', () => {
  it('verifies alone while its key is valid', () => {
    for (const entry of [{ receipt }, { receipt, witness: null }, { receipt, witness: undefined }])
      expect(verifyLedgerEntry(entry, trust, nodeProvider)).toEqual(verified);
    expect(codeOf({ receipt: { ...receipt, payload: second.payload } }, trust)).toBe('SIGNATURE_INVALID');
  });

  it('does not verify alone after its key was revoked', () => {
    expect(codeOf({ receipt })).toBe('KEY_REVOKED');
    expect(codeOf({ receipt, witness: null })).toBe('KEY_REVOKED');
  });

  it('verifies with a witness from before its key was revoked', () => {
    expect(verifyLedgerEntry({ receipt, witness: witnessAt(before) }, distrust, nodeProvider)).toEqual(verified);
  });

  it.each<[string, string, unknown]>([
    ['was signed when its key was revoked', 'KEY_REVOKED', witnessAt(revokedAt)],
    ['is of another receipt', 'INCLUSION_UNPROVEN', witnessAt(before, { checkpoint: noteOver([leafOf(second)]) })],
    [
      'has another index of the receipt',
      'INCLUSION_UNPROVEN',
      witnessAt(before, { proof: { ...proof, log_index: 1 } }),
    ],
    [
      'is signed by an unknown key',
      'KEY_UNKNOWN',
      witnessAt(before, { checkpoint: noteOver([leafOf(receipt)], { signer: strangeSigner }) }),
    ],
    ['has an unknown member', 'MALFORMED', witnessAt(before, { seen: true })],
    ['is an empty object', 'MALFORMED', {}],
    ['is a text', 'MALFORMED', 'seen'],
    ['is false', 'MALFORMED', false],
  ])('does not verify with a witness that %s', (_, code, witness) => {
    expect(codeOf({ receipt, witness })).toBe(code);
    if (code !== 'KEY_REVOKED') expect(codeOf({ receipt, witness }, trust)).toBe(code);
  });
});
