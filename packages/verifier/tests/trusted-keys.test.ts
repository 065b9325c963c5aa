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

describe('a key set', () => {
  it('is read with the purpose and the validity of each key', () => {
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

  it('accepts both algorithm names of Ed25519', () => {
    expect([one({ alg: 'EdDSA' }), one({ alg: 'Ed25519' })]).toEqual([one({}), one({})]);
  });

  const kid = testSigner.keyId;
  it.each<[object, string]>([
    [{ kid: '' }, 'a key has no kid'],
    [{ kid: 5 }, 'a key has no kid'],
    [{ purpose: undefined }, `key ${kid} has no valid "purpose"`],
    [{ purpose: 'all' }, `key ${kid} has no valid "purpose"`],
    [{ log_origin: 5 }, `key ${kid}: "log_origin" is not a string`],
    [
      { log_origin: 'log.example.org' },
      `key ${kid}: "log_origin" is required for the purpose log, and not allowed otherwise`,
    ],
    [{ purpose: 'log' }, `key ${kid}: "log_origin" is required for the purpose log, and not allowed otherwise`],
    [{ valid_from: undefined }, `key ${kid} has no "valid_from"`],
    [{ valid_from: null }, `key ${kid} has no "valid_from"`],
    [{ valid_from: 'today' }, 'a key has an invalid time'],
    [{ valid_from: true }, 'a key has an invalid time'],
    [{ valid_from: 1_767_225_600 }, 'a key has an invalid time'],
    [{ revoked_at: 1_767_225_600 }, 'a key has an invalid time'],
    [{ nbf: 1_767_225_600 }, `key ${kid}: "nbf" is not supported`],
    [{ exp: 1_767_225_600 }, `key ${kid}: "exp" is not supported`],
    [{ alg: 'RS256' }, `key ${kid}: "alg" is not EdDSA`],
    [{ alg: 'none' }, `key ${kid}: "alg" is not EdDSA`],
    [{ alg: null }, `key ${kid}: "alg" is not EdDSA`],
    [{ use: 'enc' }, `key ${kid}: "use" is not sig`],
    [{ valid_until: '2026-02-30T00:00:00.000Z' }, 'a key has an invalid time'],
    [{ revoked_at: 'yesterday' }, 'a key has an invalid time'],
    [{ x: 'short' }, ''],
  ])('is refused with %j', (changes, message) => {
    expect(failing(() => one(changes))).toContain(`MALFORMED: ${message}`);
  });

  it('contains each id and each key only once', () => {
    const keys = (...set: object[]) => failing(() => parseKeySet({ keys: set }));
    expect(keys(jwk, { ...jwkOf(strangeSigner, 'policies'), kid })).toBe('MALFORMED: two keys have the same id');
    expect(keys(jwk, { ...jwk, kid: 'other', purpose: 'policies' })).toBe('MALFORMED: the same key has two ids');
    expect(keys(jwk, jwkOf(strangeSigner, 'policies'))).toBe('none');
  });

  it.each([
    [null, 'a key set must be an object'],
    [[], 'a key set must be an object'],
    [{}, 'a key set must have an array "keys"'],
    [{ keys: [null] }, 'a key must be an object'],
    [{ keys: [[]] }, 'a key must be an object'],
  ])('is refused, and the message names the fault: %j', (set, message) => {
    expect(failing(() => parseKeySet(set))).toBe(`MALFORMED: ${message}`);
  });
});

describe('a key', () => {
  const [key, ofLog] = parseKeySet(testKeys());
  const trust = parseKeySet(testKeys());
  if (key === undefined || ofLog === undefined) throw new Error('two keys are in the set');

  it('is found by its id and its purpose', () => {
    expect(findKey(trust, { keyId: key.key_id, purpose: 'receipts' })).toEqual(key);
    expect(failing(() => findKey(trust, { keyId: key.key_id, purpose: 'policies' }))).toBe(
      `KEY_UNKNOWN: key ${key.key_id} is not trusted to sign policies`,
    );
    expect(failing(() => findKey(trust, { keyId: ofLog.key_id, purpose: 'receipts' }))).toMatch(/^KEY_UNKNOWN/);
    expect(failing(() => findKey(trust, { keyId: 'other', purpose: 'receipts' }))).toMatch(/^KEY_UNKNOWN/);
  });

  it('is valid from its first instant until before its end, and at no invalid time', () => {
    const bounded = { ...key, valid_until: until };
    const at = (instant: string) => failing(() => assertInWindow(bounded, instant)).split(':')[0];
    expect([from, '2026-01-31T23:59:59.999Z'].map(at)).toEqual(['none', 'none']);
    expect(['2025-12-31T23:59:59.999Z', 'never', until].map(at)).toEqual([
      ...['KEY_NOT_VALID_YET', 'KEY_NOT_VALID_YET', 'KEY_EXPIRED'],
    ]);
    expect(failing(() => assertInWindow(key, '2999-01-01T00:00:00.000Z'))).toBe('none');
    expect(failing(() => assertInWindow({ ...key, valid_until: 'never' }, from))).toMatch(/^KEY_EXPIRED/);
  });

  it('is valid after its revocation only for receipts that another key saw before it', () => {
    const [before, after] = ['2026-01-31T00:00:00.000Z', '2026-02-02T00:00:00.000Z'];
    const statementOf = (claimed: string, seenAt: string | null, revoked_at: string | undefined = until) => {
      const seen = seenAt === null ? null : { time: seenAt };
      return failing(() =>
        assertNotRevoked({ ...key, ...(revoked_at === '' ? {} : { revoked_at }) }, { claimed, seen }),
      );
    };
    expect(statementOf(before, before)).toBe('none');
    expect(statementOf(after, after, '')).toBe('none');
    const revoked = `KEY_REVOKED: key ${key.key_id} was revoked at ${until}`;
    expect([statementOf(until, before), statementOf(after, before), statementOf('never', before)]).toEqual([
      revoked,
      revoked,
      revoked,
    ]);
    const unseen = `${revoked}, and no earlier checkpoint contains this receipt`;
    expect([
      statementOf(before, null),
      statementOf(before, until),
      statementOf(before, after),
      statementOf(before, 'never'),
    ]).toEqual(Array(4).fill(unseen));
  });

  it('tolerates a difference of a minute between clocks', () => {
    expect(isLater('2026-01-01T00:01:00.000Z', from)).toBe(false);
    expect(isLater('2026-01-01T00:01:00.001Z', from)).toBe(true);
    expect([isLater('never', from), isLater(from, 'never')]).toEqual([true, true]);
  });

  it('has the same bytes in both formats', () => {
    const bytes = publicKeyBytes(key);
    expect(bytes).toEqual(testSigner.publicKey);
    expect(publicKeyBytes({ ...key, public_key: jwk as never })).toEqual(bytes);
    expect(failing(() => publicKeyBytes({ ...key, public_key: {} as never }))).toMatch(/^MALFORMED: .+/);
  });
});
