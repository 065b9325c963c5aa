import { describe, expect, it } from '@jest/globals';
import { SignedTrustList, type TrustList } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { verifies } from '@countersign/testkit/verifies';
import { createRootedKeyRing, readTrust, trustHash, verifyNextTrustList, verifyTrustList } from '../src/index.ts';
import { jwkOf, logSigner, strangeSigner, testKeys, testSigner } from './chain-fixture.ts';

const rootSigner = createSigner(generateSigningKey().privateKeyPem);
const root = encodeBase64Url(rootSigner.publicKey);
const pinned = { root, provider: nodeProvider };
const year = '2026-01-01T00:00:00.000Z';

type Key = TrustList['keys'][number];

function key(signer: typeof testSigner, changes: Partial<Key> = {}, purpose: Key['purpose'] = 'receipts'): Key {
  const jwk = { log_origin: null, ...jwkOf(signer, purpose), use: 'sig', alg: 'EdDSA' };
  return { ...jwk, valid_until: null, revoked_at: null, ...changes } as Key; // the members of a key
}

const logKey = key(logSigner, {}, 'log');

function listOf(keys: Key[], changes: Partial<TrustList> = {}, signer = rootSigner): SignedTrustList {
  const list = { type: 'countersign.trust.v1', version: 1, previous_hash: null, issued_at: year, keys, ...changes };
  const value = encodeBase64Url(signer.sign(canonicalBytes(list)));
  return SignedTrustList.parse({ list, signature: { alg: 'Ed25519', key_id: signer.keyId, value } });
}

function failing(act: () => unknown): string {
  try {
    act();
    return 'nothing';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`; // a VerificationError
  }
}

const first = listOf([key(testSigner), logKey]);
const rotatedAt = '2026-02-01T00:00:00.000Z';
const after = (keys: Key[], changes: Partial<TrustList> = {}) => {
  const previous_hash = trustHash(first, nodeProvider) as TrustList['previous_hash']; // of this form
  return listOf(keys, { version: 2, previous_hash, issued_at: rotatedAt as TrustList['issued_at'], ...changes });
};
const next = (list: unknown) =>
  verifyNextTrustList(list, { ...pinned, previous: verifyTrustList(first, pinned) }).keys.length;
const ended = { valid_until: '2026-02-01T00:01:20.000Z' } as Partial<Key>;
const began = { valid_from: rotatedAt } as Partial<Key>;

describe('a trust list', () => {
  verifies('kn.trust', 'counts by the one root that its reader pinned, and by no other', () => {
    expect(readTrust(first, pinned).map(({ key_id: id }) => id)).toEqual([testSigner.keyId, logSigner.keyId]);
    const other = listOf([key(testSigner)], {}, strangeSigner);
    expect(failing(() => readTrust(other, pinned))).toMatch(/^KEY_UNKNOWN: .* signed by/);
    const renamed = { ...other, signature: { ...other.signature, key_id: rootSigner.keyId } };
    expect(failing(() => readTrust(renamed, pinned))).toMatch(/^SIGNATURE_INVALID/);
    const changed = { ...first, list: { ...first.list, keys: [key(strangeSigner), logKey] } };
    expect(failing(() => readTrust(changed, pinned))).toMatch(/^SIGNATURE_INVALID/);
    expect(failing(() => readTrust({ ...first, list: { ...first.list, extra: 1 } }, pinned))).toMatch(/^MALFORMED/);
  });

  it('is refused without a root, and a key set is refused beside one', () => {
    expect(failing(() => readTrust(first, { provider: nodeProvider }))).toMatch(/name the root key/);
    expect(failing(() => readTrust(testKeys(), pinned))).toMatch(/^MALFORMED/);
    expect(readTrust(testKeys(), { provider: nodeProvider })).toHaveLength(2);
    expect(failing(() => readTrust(first, { ...pinned, root: 'no key' }))).toMatch(/^MALFORMED/);
  });

  it('is refused in an earlier version than the one that its reader saw', () => {
    expect(failing(() => readTrust(first, { ...pinned, versionMin: 2 }))).toMatch(
      /^TRUST_OUTDATED: .*version 1, and 2/,
    );
  });

  it.each<[string, Key[]]>([
    ['names a key by another id', [key(testSigner, { kid: 'key_0000000000000000' })]],
    ['names the root as a signing key', [key(rootSigner)]],
    ['leaves a replaced key valid', [key(testSigner), key(strangeSigner, began)]],
    [
      'lets a key end late',
      [key(testSigner, { valid_until: '2026-02-01T00:01:20.001Z' as never }), key(strangeSigner, began)],
    ],
    ['lets two keys begin at once', [key(testSigner), key(strangeSigner)]],
    ['ends a key before it begins', [key(testSigner, { valid_until: '2025-01-01T00:00:00.000Z' as never })]],
  ])('is refused when it %s', (_fault, keys) => {
    expect(failing(() => verifyTrustList(listOf(keys), pinned))).toMatch(/^MALFORMED/);
  });
});

describe('the next version of a trust list', () => {
  it('may add a key, end its predecessor and revoke', () => {
    expect(next(after([key(testSigner, ended), logKey, key(strangeSigner, began)]))).toBe(3);
    expect(next(after([key(testSigner, { revoked_at: rotatedAt } as Partial<Key>), logKey]))).toBe(2);
  });

  it.each<[string, SignedTrustList]>([
    ['forgets a key', after([key(testSigner)])],
    ['moves the begin of a key', after([key(testSigner, { valid_from: rotatedAt as never }), logKey])],
    ['gives a name to another key', after([{ ...key(strangeSigner), valid_from: year as never }, logKey])],
    ['skips a version', after([key(testSigner), logKey], { version: 3 })],
    ['repeats a version', first],
    ['follows another list', after([key(testSigner), logKey], { previous_hash: null })],
    ['is older', after([key(testSigner), logKey], { issued_at: '2025-12-31T00:00:00.000Z' as never })],
    [
      'dates a new key back',
      after([
        key(testSigner, { valid_until: year as never }),
        logKey,
        key(strangeSigner, { valid_from: '2026-01-31T23:59:19.999Z' as never }),
      ]),
    ],
  ])('is refused when it %s', (_fault, list) => {
    expect(failing(() => next(list))).toMatch(/^MALFORMED/);
  });

  it('takes no end and no revocation back', () => {
    const revoked = listOf([key(testSigner, { ...ended, revoked_at: rotatedAt as never }), logKey]);
    const previous = verifyTrustList(revoked, pinned);
    const later = (changes: Partial<Key>) => {
      const chained = { version: 2, previous_hash: previous.hash as TrustList['previous_hash'] };
      return failing(() =>
        verifyNextTrustList(listOf([key(testSigner, changes), logKey], chained), { ...pinned, previous }),
      );
    };
    const earlier = '2026-01-15T00:00:00.000Z' as never;
    expect(later({ ...ended, revoked_at: earlier })).toBe('nothing');
    expect(later({ ...ended, revoked_at: null })).toMatch(/later revocation/);
    expect(later({ valid_until: null, revoked_at: rotatedAt as never })).toMatch(/later end/);
  });
});

describe('a ring of keys with a root', () => {
  it('follows the list that the root signed, and never back', async () => {
    let served: SignedTrustList = first;
    const ring = createRootedKeyRing({ root, tell: () => Promise.resolve(served) }, nodeProvider);
    expect(ring.pinned()).toEqual([]);
    expect(await ring.keys()).toHaveLength(2);
    const second = after([key(testSigner, ended), logKey, key(strangeSigner, began)]);
    served = second;
    expect(await ring.keys()).toHaveLength(3);
    served = first;
    await expect(ring.keys()).rejects.toMatchObject({ code: 'TRUST_OUTDATED' });
    served = listOf([key(testSigner)], { version: 3 }, strangeSigner);
    await expect(ring.keys()).rejects.toMatchObject({ code: 'KEY_UNKNOWN' });
    expect(ring.pinned()).toHaveLength(3);
  });
});
