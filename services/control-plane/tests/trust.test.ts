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

describe('a key that was pinned', () => {
  const [own] = longTrust as [(typeof longTrust)[number]]; // it has one
  const thiefs = { ...own, public_key: createSigner(new Uint8Array(32).fill(8)).publicKey };
  const revoked = { ...own, revoked_at: '2026-06-01T00:00:00.000Z' };

  it('counts for as long as the kernel tells now, and as it was pinned where it is not told', () => {
    expect(trustOf(longTrust, [revoked])).toEqual([revoked]);
    expect(trustOf(longTrust, [])).toEqual(longTrust);
  });

  it('is not replaced by another under its name, and lets no other of receipts in', () => {
    expect(trustOf(longTrust, [thiefs])).toEqual(longTrust);
    expect(trustOf(longTrust, [own, { ...thiefs, key_id: 'k2' }])).toEqual([own]);
    const asLog = { ...own, purpose: 'log' as const, log_origin: 'log' };
    expect(trustOf(longTrust, [asLog])).toEqual(longTrust);
  });

  it('is that of a log too: the first that is told counts where none is pinned, and no other beside one that is', () => {
    const log = { ...thiefs, key_id: 'k3', purpose: 'log' as const, log_origin: 'log' };
    expect(trustOf(longTrust, [own, log])).toEqual([own, log]);
    const another = { ...log, public_key: own.public_key };
    for (const told of [another, { ...another, key_id: 'k4' }, { ...log, log_origin: 'another' }])
      expect(trustOf([own, log], [own, told])).toEqual([own, log]);
  });

  it('does not count again, or for longer, because a kernel says so', () => {
    const ended = { ...revoked, valid_from: '2026-02-01T00:00:00.000Z', valid_until: '2026-07-01T00:00:00.000Z' };
    expect(trustOf([ended], [own])).toEqual([ended]);
    expect(trustOf([own], [ended])).toEqual([ended]);
    const later = { ...ended, revoked_at: '2026-06-02T00:00:00.000Z', valid_until: '2027-01-01T00:00:00.000Z' };
    expect(trustOf([ended], [later])).toEqual([ended]);
  });
});

describe('an export that a stranger sends', () => {
  const folder = new URL('../../../contracts/vectors/receipts/', import.meta.url);
  const parts = ['valid', 'incomplete', 'undecidable', 'invalid'];
  const vectorsOf = (part: string) =>
    readdirSync(new URL(`${part}/`, folder)).map(
      (file) => JSON.parse(readFileSync(new URL(`${part}/${file}`, folder), 'utf8')) as typeof vector,
    );
  const here = { name: 'one', signal: new AbortController().signal };
  const judge = createJudge({ deadlineMs: 60_000 });
  afterAll(() => judge.close());

  it('is answered as the command answers, whatever it holds', async () => {
    const told = new Set<string>();
    for (const { keys: jwks, export: lines } of parts.flatMap(vectorsOf)) {
      const trust = parseKeySet(jwks);
      const { verdict, integrity, completeness, signer, time, fault } = verifyExport(lines, {
        ...{ trust, provider: nodeProvider },
      });
      const answer = verificationOf(await judge.judge({ text: `${lines.join('\n')}\n`, trust, expected: {} }, here));
      expect(answer).toMatchObject({ verdict, integrity, completeness, signer, time });
      expect(answer.fault).toEqual(fault === null ? null : { code: fault.code, line: fault.line });
      told.add(verdict);
    }
    expect([...told].sort()).toEqual(['INCOMPLETE', 'NOT_VERIFIED', 'UNDECIDABLE', 'VERIFIED']);
  });

  it('is read whole, also where a line has many values', async () => {
    const text = `${vector.export[0] ?? ''}\n{"receipt":[${'{},'.repeat(5_000)}{}]}`;
    const { verdict, fault } = verificationOf(await judge.judge({ text, trust: keys, expected: {} }, here));
    expect([verdict, fault?.code]).toEqual(['NOT_VERIFIED', 'MALFORMED']);
  });
});
