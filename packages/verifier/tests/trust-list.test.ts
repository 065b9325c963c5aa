import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { SignedTrustList, type TrustList } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url, keyIdOf, publicKeyToJwk } from '@countersign/crypto';
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
  return { ...jwk, valid_until: null, revoked_at: null, ...changes } as Key; // exactly the members of a key
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
    return `${(error as { code: string }).code}: ${(error as Error).message}`; // only a VerificationError is thrown
  }
}

const first = listOf([key(testSigner), logKey]);
const rotatedAt = '2026-02-01T00:00:00.000Z';
const after = (keys: Key[], changes: Partial<TrustList> = {}) => {
  const previous_hash = trustHash(first, nodeProvider) as TrustList['previous_hash']; // trustHash returns this format
  return listOf(keys, { version: 2, previous_hash, issued_at: rotatedAt as TrustList['issued_at'], ...changes });
};
const next = (list: unknown) =>
  verifyNextTrustList(list, { ...pinned, previous: verifyTrustList(first, pinned) }).keys.length;
const ended = { valid_until: '2026-02-01T00:01:20.000Z' } as Partial<Key>;
const began = { valid_from: rotatedAt } as Partial<Key>;

describe('a trust list', () => {
  verifies('kn.trust', 'is valid only under the root that its reader pinned', () => {
    expect(readTrust(first, pinned).map(({ key_id: id }) => id)).toEqual([testSigner.keyId, logSigner.keyId]);
    const second = listOf([key(testSigner)], {}, strangeSigner);
    expect(failing(() => readTrust(second, pinned))).toMatch(/^KEY_UNKNOWN: .* signed by/);
    const renamed = { ...second, signature: { ...second.signature, key_id: rootSigner.keyId } };
    expect(failing(() => readTrust(renamed, pinned))).toMatch(/^SIGNATURE_INVALID/);
    const changed = { ...first, list: { ...first.list, keys: [key(strangeSigner), logKey] } };
    expect(failing(() => readTrust(changed, pinned))).toMatch(/^SIGNATURE_INVALID/);
    expect(failing(() => readTrust({ ...first, list: { ...first.list, extra: 1 } }, pinned))).toMatch(/^MALFORMED/);
  });

  it('is refused without a root, and a key set is refused with one', () => {
    expect(failing(() => readTrust(first, { provider: nodeProvider }))).toMatch(/pass the root key/);
    expect(failing(() => readTrust(testKeys(), pinned))).toMatch(/^MALFORMED/);
    expect(readTrust(testKeys(), { provider: nodeProvider })).toHaveLength(2);
    expect(failing(() => readTrust(first, { ...pinned, root: 'no key' }))).toMatch(/^MALFORMED/);
  });

  it('is refused in an earlier version than its reader has seen', () => {
    expect(failing(() => readTrust(first, { ...pinned, versionMin: 2 }))).toMatch(
      /^TRUST_OUTDATED: .*version is 1, but version 2/,
    );
  });

  it.each<[string, Key[]]>([
    ['has a wrong ID for a key', [key(testSigner, { kid: 'key_0000000000000000' })]],
    ['names the root as a signing key', [key(rootSigner)]],
    ['leaves a replaced key valid', [key(testSigner), key(strangeSigner, began)]],
    [
      'ends a replaced key too late',
      [key(testSigner, { valid_until: '2026-02-01T00:01:20.001Z' as never }), key(strangeSigner, began)],
    ],
    ['starts two keys at the same time', [key(testSigner), key(strangeSigner)]],
    ['ends a key before its start', [key(testSigner, { valid_until: '2025-01-01T00:00:00.000Z' as never })]],
  ])('is refused when it %s', (_fault, keys) => {
    expect(failing(() => verifyTrustList(listOf(keys), pinned))).toMatch(/^MALFORMED/);
  });
});

describe('the next version of a trust list', () => {
  it('may add a key, end its predecessor, and revoke keys', () => {
    expect(next(after([key(testSigner, ended), logKey, key(strangeSigner, began)]))).toBe(3);
    expect(next(after([key(testSigner, { revoked_at: rotatedAt } as Partial<Key>), logKey]))).toBe(2);
  });

  it.each<[string, SignedTrustList]>([
    ['omits a key', after([key(testSigner)])],
    ['changes the start of a key', after([key(testSigner, { valid_from: rotatedAt as never }), logKey])],
    ['uses an ID for another key', after([{ ...key(strangeSigner), valid_from: year as never }, logKey])],
    ['skips a version', after([key(testSigner), logKey], { version: 3 })],
    ['repeats a version', first],
    ['follows another list', after([key(testSigner), logKey], { previous_hash: null })],
    [
      'has an earlier time of issue',
      after([key(testSigner), logKey], { issued_at: '2025-12-31T00:00:00.000Z' as never }),
    ],
    [
      'backdates a new key',
      after([
        key(testSigner, { valid_until: year as never }),
        logKey,
        key(strangeSigner, { valid_from: '2026-01-31T23:59:19.999Z' as never }),
      ]),
    ],
  ])('is refused when it %s', (_fault, list) => {
    expect(failing(() => next(list))).toMatch(/^MALFORMED/);
  });

  it('cannot undo an end or a revocation', () => {
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

describe('evidence keys in a trust list', () => {
  const evidence = (publicKey: KeyObject, changes: object = {}) => {
    const der = publicKey.export({ format: 'der', type: 'spki' });
    const { kty, crv, x, y } = publicKey.export({ format: 'jwk' });
    return {
      ...{ kty, crv, x, ...(y !== undefined && { y }), alg: y === undefined ? 'EdDSA' : 'ES256' },
      ...{ kid: keyIdOf(nodeProvider, der), use: 'sig', purpose: 'evidence', log_origin: null },
      ...{ valid_from: year, valid_until: null, revoked_at: null, ...changes },
    } as unknown as Key; // exactly the members of an evidence key
  };
  const p256 = () => generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey;
  const ed25519 = () => generateKeyPairSync('ed25519').publicKey;

  verifies('kn.trust', 'are read beside the signing keys, and sign nothing else', () => {
    const [ec, okp] = [evidence(p256()), evidence(ed25519(), { revoked_at: rotatedAt })];
    const { keys, evidenceKeys } = verifyTrustList(listOf([key(testSigner), ec, okp]), pinned);
    expect(keys.map(({ key_id: id }) => id)).toEqual([testSigner.keyId]);
    expect(evidenceKeys).toMatchObject([
      { key_id: ec.kid, alg: 'ES256' },
      { key_id: okp.kid, alg: 'EdDSA', revoked_at: rotatedAt },
    ]);
    expect(readTrust(listOf([key(testSigner), ec]), pinned)).toHaveLength(1);
  });

  it('are refused under a wrong id, twice, as the root, and for two purposes', () => {
    const ec = evidence(p256());
    const of = (...keys: Key[]) => failing(() => verifyTrustList(listOf([key(testSigner), ...keys]), pinned));
    expect(of({ ...ec, kid: testSigner.keyId })).toMatch(/must have the id/);
    expect(of(ec, ec)).toMatch(/the same id or the same key/);
    const spkiOf = (publicKey: Uint8Array) => createPublicKey({ key: { ...publicKeyToJwk(publicKey) }, format: 'jwk' });
    expect(of(evidence(spkiOf(testSigner.publicKey)))).toMatch(/the same id or the same key/);
    expect(of(evidence(spkiOf(rootSigner.publicKey)))).toMatch(/root key must not be/);
    expect(of({ ...ec, x: 'AAAA' })).toMatch(/coordinate/);
  });

  it('follow each other by algorithm, and only the first ones may begin before their list', () => {
    const [earliest, second, derived] = [evidence(p256()), evidence(p256(), began), evidence(ed25519())];
    expect(next(after([key(testSigner), logKey, earliest, derived]))).toBe(2);
    const begun = verifyTrustList(listOf([key(testSigner), earliest]), pinned);
    const following = (...keys: Key[]) => {
      const chained = { version: 2, previous_hash: begun.hash as TrustList['previous_hash'], issued_at: rotatedAt };
      const list = listOf([key(testSigner), ...keys], chained as Partial<TrustList>);
      return failing(() => verifyNextTrustList(list, { ...pinned, previous: begun }));
    };
    expect(following({ ...earliest, ...ended } as Key, second)).toBe('nothing');
    expect(following(earliest, second)).toMatch(/must end when its successor/);
    const early = evidence(p256(), { valid_from: '2026-01-20T00:00:00.000Z' });
    expect(following({ ...earliest, valid_until: '2026-01-20T00:00:00.000Z' } as Key, early)).toMatch(
      /begins before its/,
    );
    expect(following(second)).toMatch(/was removed/);
    const revoked = { ...earliest, revoked_at: rotatedAt } as Key;
    expect(following(revoked)).toBe('nothing');
  });
});

describe('a key ring with a root', () => {
  it('follows newer lists that the root signed, and never returns to an older one', async () => {
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
