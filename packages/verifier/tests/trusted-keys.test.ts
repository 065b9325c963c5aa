import { describe, expect, it } from '@jest/globals';
import { parseKeySet } from '../src/index.ts';
import { assertInWindow, assertNotRevoked, findKey, isLater, publicKeyBytes } from '../src/trusted-keys.ts';
import { jwkOf, logOrigin, logSigner, strangeSigner, testKeys, testSigner } from './chain-fixture.ts';

const jwk = jwkOf(testSigner, 'receipts');
const from = '2026-01-01T00:00:00.000Z';
const until = '2026-02-01T00:00:00.000Z';
const one = (changes: object) => parseKeySet({ keys: [{ ...jwk, ...changes }] })[0];
const failing = (work: () => unknown): string => {
  try {
    work();
    return 'none';
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `${code}: ${message}`;
  }
};

describe('a set of keys', () => {
  it('is read with what each signs, and when', () => {
    expect(parseKeySet(testKeys())).toEqual([
      { key_id: testSigner.keyId, public_key: testSigner.publicKey, purpose: 'receipts', valid_from: from },
      {
        ...{ key_id: logSigner.keyId, public_key: logSigner.publicKey, purpose: 'log', valid_from: from },
        log_origin: logOrigin,
      },
    ]);
    expect(one({ valid_until: until, revoked_at: until })).toEqual({
      ...{ key_id: testSigner.keyId, public_key: testSigner.publicKey, purpose: 'receipts', valid_from: from },
      ...{ valid_until: until, revoked_at: until },
    });
    expect(one({ valid_until: null, revoked_at: null, log_origin: null, use: 'sig' })).toEqual(one({}));
  });

  it('is read with both names of the algorithm of Ed25519', () => {
    expect([one({ alg: 'EdDSA' }), one({ alg: 'Ed25519' })]).toEqual([one({}), one({})]);
  });

  const kid = testSigner.keyId;
  it.each<[object, string]>([
    [{ kid: '' }, 'a key has no kid'],
    [{ kid: 5 }, 'a key has no kid'],
    [{ purpose: undefined }, `key ${kid} does not say what it signs`],
    [{ purpose: 'all' }, `key ${kid} does not say what it signs`],
    [{ log_origin: 5 }, `key ${kid} has an origin that is no text`],
    [{ log_origin: 'log.example.org' }, `key ${kid}: exactly the key of a log names its origin`],
    [{ purpose: 'log' }, `key ${kid}: exactly the key of a log names its origin`],
    [{ valid_from: undefined }, `key ${kid} does not say from when it is valid`],
    [{ valid_from: null }, `key ${kid} does not say from when it is valid`],
    [{ valid_from: 'today' }, 'a key has a time that is no time'],
    [{ valid_from: true }, 'a key has a time that is no time'],
    [{ valid_from: 1_767_225_600 }, 'a key has a time that is no time'],
    [{ revoked_at: 1_767_225_600 }, 'a key has a time that is no time'],
    [{ nbf: 1_767_225_600 }, `key ${kid}: "nbf" is not read`],
    [{ exp: 1_767_225_600 }, `key ${kid}: "exp" is not read`],
    [{ alg: 'RS256' }, `key ${kid}: "alg" is not EdDSA`],
    [{ alg: 'none' }, `key ${kid}: "alg" is not EdDSA`],
    [{ alg: null }, `key ${kid}: "alg" is not EdDSA`],
    [{ use: 'enc' }, `key ${kid}: "use" is not sig`],
    [{ valid_until: '2026-02-30T00:00:00.000Z' }, 'a key has a time that is no time'],
    [{ revoked_at: 'yesterday' }, 'a key has a time that is no time'],
    [{ x: 'short' }, ''],
  ])('is none with %j', (changes, message) => {
    expect(failing(() => one(changes))).toContain(`MALFORMED: ${message}`);
  });

  it('has each id and each key once', () => {
    const keys = (...set: object[]) => failing(() => parseKeySet({ keys: set }));
    expect(keys(jwk, { ...jwkOf(strangeSigner, 'policies'), kid })).toBe('MALFORMED: two keys have one id');
    expect(keys(jwk, { ...jwk, kid: 'other', purpose: 'policies' })).toBe('MALFORMED: one key has two ids');
    expect(keys(jwk, jwkOf(strangeSigner, 'policies'))).toBe('none');
  });

  it.each([
    [null, 'a key set is an object'],
    [[], 'a key set is an object'],
    [{}, 'a key set has an array "keys"'],
    [{ keys: [null] }, 'a key is an object'],
    [{ keys: [[]] }, 'a key is an object'],
  ])('says what it is instead: %j', (set, message) => {
    expect(failing(() => parseKeySet(set))).toBe(`MALFORMED: ${message}`);
  });
});

describe('a key', () => {
  const [key, ofLog] = parseKeySet(testKeys());
  const trust = parseKeySet(testKeys());
  if (key === undefined || ofLog === undefined) throw new Error('two keys are in the set');

  it('is found by its id, for what it signs', () => {
    expect(findKey(trust, { keyId: key.key_id, purpose: 'receipts' })).toEqual(key);
    expect(failing(() => findKey(trust, { keyId: key.key_id, purpose: 'policies' }))).toBe(
      `KEY_UNKNOWN: key ${key.key_id} is not trusted to sign policies`,
    );
    expect(failing(() => findKey(trust, { keyId: ofLog.key_id, purpose: 'receipts' }))).toMatch(/^KEY_UNKNOWN/);
    expect(failing(() => findKey(trust, { keyId: 'other', purpose: 'receipts' }))).toMatch(/^KEY_UNKNOWN/);
  });

  it('counts from its first instant to before its last, and at no time that is none', () => {
    const bounded = { ...key, valid_until: until };
    const at = (instant: string) => failing(() => assertInWindow(bounded, instant)).split(':')[0];
    expect([from, '2026-01-31T23:59:59.999Z'].map(at)).toEqual(['none', 'none']);
    expect(['2025-12-31T23:59:59.999Z', 'never', until].map(at)).toEqual([
      ...['KEY_NOT_VALID_YET', 'KEY_NOT_VALID_YET', 'KEY_EXPIRED'],
    ]);
    expect(failing(() => assertInWindow(key, '2999-01-01T00:00:00.000Z'))).toBe('none');
    expect(failing(() => assertInWindow({ ...key, valid_until: 'never' }, from))).toMatch(/^KEY_EXPIRED/);
  });

  it('that was revoked counts for what another key saw before', () => {
    const [before, after] = ['2026-01-31T00:00:00.000Z', '2026-02-02T00:00:00.000Z'];
    const said = (claimed: string, seenAt: string | null, revoked_at: string | undefined = until) => {
      const seen = seenAt === null ? null : { time: seenAt };
      return failing(() =>
        assertNotRevoked({ ...key, ...(revoked_at === '' ? {} : { revoked_at }) }, { claimed, seen }),
      );
    };
    expect(said(before, before)).toBe('none');
    expect(said(after, after, '')).toBe('none');
    const revoked = `KEY_REVOKED: key ${key.key_id} was revoked at ${until}`;
    expect([said(until, before), said(after, before), said('never', before)]).toEqual([revoked, revoked, revoked]);
    const unseen = `${revoked}, and no checkpoint from before has this receipt`;
    expect([said(before, null), said(before, until), said(before, after), said(before, 'never')]).toEqual(
      Array(4).fill(unseen),
    );
  });

  it('is later than another instant by more than clocks differ', () => {
    expect(isLater('2026-01-01T00:01:00.000Z', from)).toBe(false);
    expect(isLater('2026-01-01T00:01:00.001Z', from)).toBe(true);
    expect([isLater('never', from), isLater(from, 'never')]).toEqual([true, true]);
  });

  it('has its bytes, however it was given', () => {
    const bytes = publicKeyBytes(key);
    expect(bytes).toEqual(testSigner.publicKey);
    expect(publicKeyBytes({ ...key, public_key: jwk as never })).toEqual(bytes);
    expect(failing(() => publicKeyBytes({ ...key, public_key: {} as never }))).toMatch(/^MALFORMED: .+/);
  });
});
