import { createHmac } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { presentedCredential } from '../src/identity/credential.ts';
import { checkCode, codeLifetimeMs, emailCodeHmac, emailCodeOf } from '../src/identity/email-code.ts';
import { isLoopbackAddress, isLoopbackAuthority } from '../src/identity/loopback.ts';
import { looksLikeSessionToken, newSessionToken, sessionState } from '../src/identity/session-token.ts';
import { mayBeShownCode } from '../src/identity/shows-code.ts';
import { maySignUp, signUpEntry } from '../src/identity/sign-up.ts';
import type { LiveCode } from '../src/store/email-codes.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const at = (offsetMs: number) => new Date(now.getTime() + offsetMs);
const secret = 'a secret of thirty-two characters';
const binding = { codeId: 'cod_1', email: 'ada@example.org', inviteId: null, code: '123456' };

describe('an email code', () => {
  it('belongs to this request, this address and this installation only', () => {
    const codes = Array.from({ length: 200 }, (_, nr) => emailCodeOf(secret, { ...binding, codeId: `cod_${nr}` }));
    expect(codes.filter((code) => !/^\d{6}$/.test(code))).toEqual([]);
    expect(new Set(codes).size).toBeGreaterThan(195);
    const code = emailCodeOf(secret, binding);
    expect(emailCodeOf(secret, { ...binding })).toBe(code);
    expect(emailCodeOf(secret, { ...binding, email: 'bob@example.org' })).not.toBe(code);
    expect(emailCodeOf(`${secret}.`, binding)).not.toBe(code);
    const ofInvites = ['inv_1', 'inv_2'].map((inviteId) => emailCodeOf(secret, { ...binding, inviteId }));
    expect(new Set([code, ...ofInvites]).size).toBe(3);
  });

  it.each([
    [null, 'cod_1\nada@example.org'],
    ['inv_1', 'cod_1\nada@example.org\ninv_1'],
  ])('for the invite %s is derived from the same text in every version of the gateway', (inviteId, about) => {
    const mac = createHmac('sha256', secret).update(`countersign/email-code-digits/v1\n${about}`).digest();
    const digits = String(mac.readBigUInt64BE() % 1_000_000n).padStart(6, '0');
    expect(emailCodeOf(secret, { ...binding, inviteId })).toBe(digits);
  });

  const live = {
    id: binding.codeId,
    email: binding.email,
    codeHmac: emailCodeHmac(secret, binding),
    inviteId: 'inv_1',
    inviteCodeHmac: emailCodeHmac(secret, { ...binding, code: '654321' }),
    tries: 0,
    expiresAt: at(1),
  };
  const noInvite = { inviteId: null, inviteCodeHmac: null };
  it.each<[string, string, LiveCode | null, object]>([
    ['the right code', 'accepted', live, {}],
    ['the right code at the last try', 'accepted', { ...live, tries: 4 }, {}],
    ['the code of its invite', 'joins', live, { code: '654321' }],
    ['an invite code for an address without an invite', 'refused', { ...live, ...noInvite }, { code: '654321' }],
    ['the code of its invite at its end', 'expired', { ...live, expiresAt: now }, { code: '654321' }],
    ['a wrong code', 'refused', live, { code: '123457' }],
    ['a wrong code at the last try but one', 'refused', { ...live, tries: 3 }, { code: '123457' }],
    ['a wrong code at the last try', 'exhausted', { ...live, tries: 4 }, { code: '123457' }],
    ['the right code of another address', 'refused', live, { email: 'bob@example.org' }],
    ['the right code of another request', 'refused', { ...live, id: 'cod_2' }, {}],
    ['the right code of another installation', 'refused', live, { secret: `${secret}.` }],
    ['the right code at its end', 'expired', { ...live, expiresAt: now }, {}],
    ['an unrequested code', 'refused', null, {}],
  ])('%s is %s', (_what, verdict, existing, changes) => {
    const { code, email } = binding;
    expect(checkCode(existing, { code, email, secret, now, ...changes })).toBe(verdict);
  });

  it('expires after ten minutes', () => {
    expect(codeLifetimeMs).toBe(600_000);
  });
});

describe('a session token', () => {
  it.each<[boolean, string]>([
    [true, newSessionToken()],
    [false, `x${newSessionToken()}`],
    [false, `${newSessionToken()}x`],
    [false, newSessionToken().slice(0, -1)],
    [false, newSessionToken().replace('cs_', 'hp_')],
    [false, `cs_${'+'.repeat(43)}`],
  ])('is recognised by its form: %s, %s', (isOne, token) => {
    expect(looksLikeSessionToken(token)).toBe(isOne);
  });

  const dayMs = 86_400_000;
  const session = { createdAt: at(-1), expiresAt: at(1), rotatedAt: null, revokedAt: null };
  it.each<[string, string, Partial<Record<keyof typeof session, Date>>]>([
    ['young', 'valid', {}],
    ['a millisecond younger than a day', 'valid', { createdAt: at(1 - dayMs) }],
    ['a day old', 'due', { createdAt: at(-dayMs) }],
    ['replaced a minute ago', 'valid', { rotatedAt: at(-60_000), createdAt: at(-2 * dayMs) }],
    ['replaced more than a minute ago', 'reused', { rotatedAt: at(-60_001) }],
    ['at its end', 'expired', { expiresAt: now }],
    ['at its end and replaced', 'expired', { expiresAt: now, rotatedAt: at(-60_001) }],
    ['revoked', 'revoked', { revokedAt: at(-1), expiresAt: now, rotatedAt: at(-60_001) }],
  ])('that is %s is %s', (_what, state, changes) => {
    expect(sessionState({ ...session, ...changes }, now)).toBe(state);
  });
});

describe('a name of this machine', () => {
  it.each<[string, boolean, boolean]>([
    ['localhost', true, true],
    ['LOCALHOST', true, true],
    ['127.0.0.1', true, true],
    ['127.255.255.254', true, true],
    ['::1', true, false],
    ['[::1]', false, true],
    ['127.0.0.1:3100', false, true],
    ['[::1]:3100', false, true],
    ['127.0.0.1:310000', false, false],
    ['127.0.0.1:', false, false],
    ['128.0.0.1', false, false],
    ['127.0.0', false, false],
    ['127.0.0.1.1', false, false],
    ['x127.0.0.1', false, false],
    ['localhost.example.org', false, false],
    ['my-localhost', false, false],
    ['', false, false],
  ])('%s counts as an address: %s, and as an authority: %s', (host, isAddress, isAuthority) => {
    expect(isLoopbackAddress(host)).toBe(isAddress);
    expect(isLoopbackAuthority(host)).toBe(isAuthority);
  });

  it('is not known without a host', () => {
    expect(isLoopbackAuthority(undefined)).toBe(false);
  });
});

describe('a request whose answer may show a code', () => {
  const request = (headers: Record<string, string>, more: string[] = []) => {
    const rawHeaders = [...Object.entries(headers).flat(), ...more];
    return mayBeShownCode({ headers, rawHeaders });
  };
  const host = '127.0.0.1:3100';

  it('is addressed to exactly one name of this machine', () => {
    expect(request({ host })).toBe(true);
    expect(request({ host, accept: 'host' })).toBe(true);
    expect(request({})).toBe(false);
    expect(request({ host: 'evil.example' })).toBe(false);
    expect(request({ host }, ['Host', 'evil.example'])).toBe(false);
  });

  it.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'])(
    'does not have the header %s',
    (name) => {
      expect(request({ host, [name]: '' })).toBe(false);
    },
  );

  it.each<[string, boolean]>([
    ['http://localhost:3000', true],
    ['https://127.0.0.1', true],
    ['http://[::1]:3000', true],
    ['http://evil.example', false],
    ['http://localhost.evil.example', false],
    ['null', false],
    ['', false],
  ])('can come from a page with the origin %j: %s', (origin, isShown) => {
    expect(request({ host, origin })).toBe(isShown);
  });
});

describe('the credential of a request', () => {
  const presented = (headers: IncomingMessage['headers']) =>
    presentedCredential(Object.assign(new IncomingMessage(new Socket()), { headers }));
  const longest = 'aZ09_-'.repeat(43).slice(0, 256);

  it.each<[string, IncomingMessage['headers'], string]>([
    ['a token', { authorization: 'Bearer cs_1' }, 'cs_1'],
    ['a key', { 'x-api-key': 'hpk_1' }, 'hpk_1'],
    ['the longest key', { 'x-api-key': longest }, longest],
    ['the same key twice', { 'x-api-key': 'hpk_1', authorization: 'Bearer hpk_1' }, 'hpk_1'],
  ])('can be %s', (_what, headers, credential) => {
    expect(presented(headers)).toBe(credential);
  });

  it.each<[string, IncomingMessage['headers'], string]>([
    ['nothing', {}, 'CREDENTIALS_REQUIRED'],
    ['a key and another scheme', { 'x-api-key': 'hpk_1', authorization: 'Basic hpk_1' }, 'CREDENTIALS_REQUIRED'],
    ['two different credentials', { 'x-api-key': 'hpk_1', authorization: 'Bearer hpk_2' }, 'CREDENTIALS_INVALID'],
    ['an empty key', { 'x-api-key': '' }, 'CREDENTIALS_INVALID'],
    ['a key over the length limit', { 'x-api-key': `${longest}a` }, 'CREDENTIALS_INVALID'],
    ['a key after a space', { 'x-api-key': ' hpk_1' }, 'CREDENTIALS_INVALID'],
    ['a key before a comma', { 'x-api-key': 'hpk_1,' }, 'CREDENTIALS_INVALID'],
    ['a list of one key', { 'x-api-key': ['hpk_1'] }, 'CREDENTIALS_INVALID'],
  ])('cannot be %s', (_what, headers, code) => {
    expect(() => presented(headers)).toThrow(expect.objectContaining({ code }));
  });
});

describe('the list of allowed sign-ups', () => {
  const listed = ['eve@example.org', '@friends.example', 'telegram:42'];
  it.each<[string, readonly string[], boolean]>([
    ['anybody@example.org', ['*'], true],
    ['telegram:7', ['*'], true],
    ['eve@example.org', [], false],
    ['eve@example.org', listed, true],
    ['bob@friends.example', listed, true],
    ['"a@b"@friends.example', listed, true],
    ['telegram:42', listed, true],
    ['bob@example.org', listed, false],
    ['bob@sub.friends.example', listed, false],
    ['bob@notfriends.example', listed, false],
    ['bob@friends.example@example.org', listed, false],
    ['telegram:4', listed, false],
    ['telegram:43', listed, false],
  ])('%s can open a workspace under the list %j: %s', (knownAs, signUp, may) => {
    expect(maySignUp(signUp, knownAs)).toBe(may);
  });

  it.each([
    ...['*', 'telegram:1', `telegram:${'9'.repeat(20)}`, 'eve@example.org', '@friends.example', '@x'],
    `${'a'.repeat(64)}@${'b'.repeat(253)}`,
  ])('accepts the entry %s', (entry) => {
    expect(signUpEntry.test(entry)).toBe(true);
  });

  it.each([
    ...['', '**', '*@example.org*', 'x*', 'telegram:', 'telegram:x', 'xtelegram:1', 'telegram:1x', 'friends.example'],
    ...['a b@example.org', 'a,b@example.org', 'a@b@example.org', 'eve@', 'eve@Example.org', 'eve@example.org/'],
    ...[`telegram:${'9'.repeat(21)}`, `${'a'.repeat(65)}@example.org`, `@${'b'.repeat(254)}`],
  ])('rejects the entry %j', (entry) => {
    expect(signUpEntry.test(entry)).toBe(false);
  });
});
