import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from '@jest/globals';
import { StoredReceipt } from '@countersign/contracts/governance-kernel';
import { publicKeyToJwk } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner } from '@countersign/crypto/signing';
import { createJudge } from '@countersign/judge';
import { parseKeySet, trustOf, verifyExport, verifyReceipt } from '@countersign/verifier';
import { checkReceipt } from '../src/trust/check-receipt.ts';
import { verificationOf } from '../src/verification/verification-of.ts';

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
const signer = createSigner(new Uint8Array(32).fill(7));
const longTrust = parseKeySet({
  keys: [
    {
      ...publicKeyToJwk(signer.publicKey),
      kid: signer.keyId,
      purpose: 'receipts',
      valid_from: '2026-01-01T00:00:00.000Z',
    },
  ],
});

const faultOf = (shown: StoredReceipt, trusted = keys, wanted = expected) => {
  const { verified, fault } = checkReceipt({ receipt: shown, witness: null }, trusted, wanted);
  expect(verified).toBe(fault === null);
  return fault;
};

describe('a receipt from the kernel', () => {
  it('is accepted if a trusted key signed it for this tenant and this session', () => {
    expect(faultOf(receipt)).toBeNull();
  });

  it('is refused with a reason if it was changed, or has another key, tenant or session', () => {
    const payload = { ...receipt.payload, tool: null };
    expect(faultOf({ ...receipt, payload })).toBe('HASH_MISMATCH');
    expect(faultOf(receipt, [])).toBe('KEY_UNKNOWN');
    expect(faultOf(receipt, keys, { ...expected, session: 'another' })).toBe('SUBJECT_MISMATCH');
    expect(faultOf(receipt, keys, { ...expected, tenant: 'another' })).toBe('SUBJECT_MISMATCH');
  });
});

describe('a pinned key', () => {
  const [own] = longTrust as [(typeof longTrust)[number]]; // the list has one key
  const thiefs = { ...own, public_key: createSigner(new Uint8Array(32).fill(8)).publicKey };
  const revoked = { ...own, revoked_at: '2026-06-01T00:00:00.000Z' };

  it('ends at the time that the kernel reports, or at the pinned time if the kernel does not report the key', () => {
    expect(trustOf(longTrust, [revoked])).toEqual([revoked]);
    expect(trustOf(longTrust, [])).toEqual(longTrust);
  });

  it('cannot be replaced by another key with its id, and excludes other receipt keys', () => {
    expect(trustOf(longTrust, [thiefs])).toEqual(longTrust);
    expect(trustOf(longTrust, [own, { ...thiefs, key_id: 'k2' }])).toEqual([own]);
    const asLog = { ...own, purpose: 'log' as const, log_origin: 'log' };
    expect(trustOf(longTrust, [asLog])).toEqual(longTrust);
  });

  it('of the log is the first reported log key if none was pinned before, and excludes all other log keys', () => {
    const log = { ...thiefs, key_id: 'k3', purpose: 'log' as const, log_origin: 'log' };
    expect(trustOf(longTrust, [own, log])).toEqual([own, log]);
    const another = { ...log, public_key: own.public_key };
    for (const report of [another, { ...another, key_id: 'k4' }, { ...log, log_origin: 'another' }])
      expect(trustOf([own, log], [own, report])).toEqual([own, log]);
  });

  it('cannot be restored or extended by a report of the kernel', () => {
    const ended = { ...revoked, valid_from: '2026-02-01T00:00:00.000Z', valid_until: '2026-07-01T00:00:00.000Z' };
    expect(trustOf([ended], [own])).toEqual([ended]);
    expect(trustOf([own], [ended])).toEqual([ended]);
    const later = { ...ended, revoked_at: '2026-06-02T00:00:00.000Z', valid_until: '2027-01-01T00:00:00.000Z' };
    expect(trustOf([ended], [later])).toEqual([ended]);
  });
});

describe('an untrusted export', () => {
  const folder = new URL('../../../contracts/vectors/receipts/', import.meta.url);
  const pieces = ['valid', 'incomplete', 'undecidable', 'invalid'];
  const vectorsOf = (chunk: string) =>
    readdirSync(new URL(`${chunk}/`, folder)).map(
      (file) => JSON.parse(readFileSync(new URL(`${chunk}/${file}`, folder), 'utf8')) as typeof vector,
    );
  const here = { name: 'one', signal: new AbortController().signal };
  const judge = createJudge({ deadlineMs: 60_000 });
  afterAll(() => judge.close());

  it('gets the same result as from the verifier itself', async () => {
    const reported = new Set<string>();
    for (const { keys: jwks, export: lines } of pieces.flatMap(vectorsOf)) {
      const trust = parseKeySet(jwks);
      const { verdict, integrity, completeness, signer, time, fault } = verifyExport(lines, {
        ...{ trust, provider: nodeProvider },
      });
      const answer = verificationOf(await judge.judge({ text: `${lines.join('\n')}\n`, trust, expected: {} }, here));
      expect(answer).toMatchObject({ verdict, integrity, completeness, signer, time });
      expect(answer.fault).toEqual(fault === null ? null : { code: fault.code, line: fault.line });
      reported.add(verdict);
    }
    expect([...reported].sort()).toEqual(['INCOMPLETE', 'NOT_VERIFIED', 'UNDECIDABLE', 'VERIFIED']);
  });

  it('is read completely, even if a line has many values', async () => {
    const text = `${vector.export[0] ?? ''}\n{"receipt":[${'{},'.repeat(5_000)}{}]}`;
    const { verdict, fault } = verificationOf(await judge.judge({ text, trust: keys, expected: {} }, here));
    expect([verdict, fault?.code]).toEqual(['NOT_VERIFIED', 'MALFORMED']);
  });
});
