import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyReceipt } from '@countersign/verifier';
import { checkReceipt } from '../src/runs/check-receipt.ts';

const place = new URL('../../../contracts/vectors/receipts/valid/one-session.json', import.meta.url);
const vector = JSON.parse(readFileSync(place, 'utf8')) as { keys: { keys: object[] }; export: string[] };
const line = JSON.parse(vector.export.find((text) => text.startsWith('{"receipt":')) ?? '') as { receipt: object };
const keys = parseKeySet(vector.keys);
const { receipt_hash } = verifyReceipt(line.receipt, keys, nodeProvider);
const receipt = StoredReceipt.parse({ ...line.receipt, receipt_hash, log_index: 0 });
const expected: { tenant: string; session: string } = {
  tenant: receipt.payload.tenant_id,
  session: receipt.payload.session_id,
};
const faultOf = (shown: StoredReceipt, trusted = keys, wanted = expected) => {
  const { verified, fault } = checkReceipt(shown, trusted, wanted);
  expect(verified).toBe(fault === null);
  return fault;
};

describe('a receipt that the kernel shows', () => {
  it('counts when a trusted key signed it for this tenant and this session', () => {
    expect(faultOf(receipt)).toBeNull();
  });

  it('is refused with the reason when it was changed, is of another key, tenant or session', () => {
    const payload = { ...receipt.payload, tool: null };
    expect(faultOf({ ...receipt, payload })).toBe('HASH_MISMATCH');
    expect(faultOf(receipt, [])).toBe('KEY_UNKNOWN');
    expect(faultOf(receipt, keys, { ...expected, session: 'another' })).toBe('SUBJECT_MISMATCH');
    expect(faultOf(receipt, keys, { ...expected, tenant: 'another' })).toBe('SUBJECT_MISMATCH');
  });
});
