import { describe, expect, it } from '@jest/globals';
import { utf8Bytes, encodeBase64Url } from '@countersign/crypto';
import fc from 'fast-check';
import { SignJWT } from 'jose';
import { verifyLicence } from '../src/licence/verify-licence.ts';
import { daySeconds, issueLicence, issuer, nowMs, stranger, terms } from './_licences.ts';

const here = { keys: [issuer], installation: terms.aud, org: terms.org };
const at = (ms: number) => ({ ...here, now: new Date(ms) });
const verdictOf = async (text: string, expected: object = {}) => verifyLicence(text, { ...at(nowMs), ...expected });
const faultOf = async (text: string, expected: object = {}) => {
  const verdict = await verdictOf(text, expected);
  return verdict.kind === 'invalid' ? verdict.reason : verdict.kind;
};
const encoded = (value: object) => encodeBase64Url(utf8Bytes(JSON.stringify(value)));

describe('a licence', () => {
  it('is valid with its terms, under any pinned key', async () => {
    expect(await verdictOf(await issueLicence(), { keys: [stranger, issuer] })).toEqual({
      kind: 'valid',
      claims: terms,
    });
  });

  it('is valid until its end, then in grace for 14 days, then expired', async () => {
    const text = await issueLicence();
    const endMs = terms.exp * 1_000;
    const graceEndMs = endMs + 14 * daySeconds * 1_000;
    const kinds = [];
    for (const ms of [nowMs, endMs - 1, endMs, graceEndMs - 1, graceEndMs])
      kinds.push((await verifyLicence(text, at(ms))).kind);
    expect(kinds).toEqual(['valid', 'valid', 'in_grace', 'in_grace', 'expired']);
    expect(await verifyLicence(text, at(endMs))).toMatchObject({ endsAt: new Date(graceEndMs), claims: terms });
  });

  it.each([
    ['is refused when it was issued beyond the allowed clock difference', { iat: terms.iat + 61 }, 'ISSUED_IN_FUTURE'],
    ['is accepted when it was issued within the allowed clock difference', { iat: terms.iat + 60 }, 'valid'],
    ['is refused for another installation', { aud: 'installation-2' }, 'OTHER_INSTALLATION'],
    ['is refused for several installations', { aud: ['installation-1', 'installation-2'] }, 'CLAIMS'],
    ['is refused for another organisation', { org: 'org_2' }, 'OTHER_ORGANISATION'],
    ['is refused with an unknown claim', { admin: true }, 'CLAIMS'],
    ['is refused from another issuer', { iss: 'x' }, 'CLAIMS'],
    ['is refused when it ends before it begins', { exp: terms.iat }, 'CLAIMS'],
    [
      'is accepted when its grace period ends in the last second of the year 9999',
      { exp: 253_402_300_799 - 14 * daySeconds },
      'valid',
    ],
    ['is refused when its grace period ends after the year 9999', { exp: 253_402_300_800 - 14 * daySeconds }, 'CLAIMS'],
    ['is refused without an end', { exp: undefined }, 'CLAIMS'],
    ['is refused with a limit on stops', { limits: { stops: 1 } }, 'CLAIMS'],
    ['is refused with a negative limit', { limits: { members: -1 } }, 'CLAIMS'],
    ['is refused with an unknown capability', { capabilities: ['root'] }, 'CLAIMS'],
    ['is refused without an ID', { jti: undefined }, 'CLAIMS'],
  ])('%s', async (_what, claims, result) => {
    expect(await faultOf(await issueLicence({ claims }))).toBe(result);
  });

  it('is refused when an unpinned key signed it, whatever key ID it contains', async () => {
    expect(await faultOf(await issueLicence({ key: stranger }))).toBe('SIGNATURE');
    expect(await faultOf(await issueLicence({ key: stranger, header: { kid: stranger.keyId } }))).toBe('UNKNOWN_KEY');
    expect(await faultOf(await issueLicence(), { keys: [] })).toBe('UNKNOWN_KEY');
  });

  it('is refused for another algorithm before any key is used', async () => {
    const { kid, typ } = { kid: issuer.keyId, typ: 'countersign-licence+jwt' };
    const unsigned = `${encoded({ alg: 'none', typ, kid })}.${encoded(terms)}.`;
    expect(await faultOf(unsigned)).toBe('ALGORITHM');
    const secret = issuer.publicKey;
    const symmetric = await new SignJWT(terms).setProtectedHeader({ alg: 'HS256', typ, kid }).sign(secret); // claims of a licence
    expect(await faultOf(symmetric)).toBe('ALGORITHM');
  });

  it.each([
    ['another kind of token', { typ: 'countersign-person+jwt' }],
    ['an embedded key', { jwk: {} }],
    ['no key', { kid: undefined }],
  ])('is malformed when its header contains %s', async (_what, header) => {
    expect(await faultOf(await issueLicence({ header }))).toBe('MALFORMED');
  });

  it('is refused for a repeated claim, because parsers differ in which one they use', async () => {
    const payload = JSON.stringify(terms).replace('"iat"', '"exp":9999999999,"iat"');
    expect(JSON.parse(payload)).toEqual(terms);
    expect(await faultOf(await issueLicence({ payload }))).toBe('CLAIMS');
  });

  it('never applies after a change of one character', async () => {
    const text = await issueLicence();
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: text.length - 1 }), fc.constantFrom(...'Ab0_-.= é'), async (index, character) => {
        const altered = text.slice(0, index) + character + text.slice(index + 1);
        fc.pre(altered !== text);
        expect((await verdictOf(altered)).kind).toBe('invalid');
      }),
    );
  });

  it('is accepted in only one encoding', async () => {
    const text = await issueLicence();
    const last = text.at(-1) ?? '';
    const sameBits = String.fromCharCode(last.charCodeAt(0) + 1);
    expect(Buffer.from(sameBits.padStart(text.length - text.lastIndexOf('.') - 1, 'A'), 'base64url')).toHaveLength(64);
    expect(await faultOf(text.slice(0, -1) + sameBits)).toBe('MALFORMED');
  });

  it.each(['', 'x', 'a.b.c', '..', `${'a'.repeat(9_000)}.b.c`])('is malformed when its text is %.8s', async (text) => {
    expect(await faultOf(text)).toBe('MALFORMED');
  });
});
