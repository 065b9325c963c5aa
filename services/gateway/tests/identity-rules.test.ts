import { describe, expect, it } from '@jest/globals';
import { checkCode, codeLifetimeMs, emailCodeHmac, emailCodeOf } from '../src/identity/email-code.ts';
import { isLoopbackAddress, isLoopbackAuthority } from '../src/identity/loopback.ts';
import { looksLikeSessionToken, newSessionToken, sessionState } from '../src/identity/session-token.ts';
import { mayBeShownCode } from '../src/identity/shows-code.ts';
import type { LiveCode } from '../src/store/email-codes.ts';

const now = new Date('2026-03-01T12:00:00.000Z');
const at = (offsetMs: number) => new Date(now.getTime() + offsetMs);
const secret = 'a secret of thirty-two characters';
const binding = { codeId: 'cod_1', email: 'ada@example.org', inviteId: null, code: '123456' };

describe('an email code', () => {
  it('is of this request, this address and this installation alone', () => {
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
    ['the code of an invite where there is none', 'refused', { ...live, ...noInvite }, { code: '654321' }],
    ['the code of its invite at its end', 'expired', { ...live, expiresAt: now }, { code: '654321' }],
    ['a wrong code', 'refused', live, { code: '123457' }],
    ['a wrong code at the last try but one', 'refused', { ...live, tries: 3 }, { code: '123457' }],
    ['a wrong code at the last try', 'exhausted', { ...live, tries: 4 }, { code: '123457' }],
    ['the right code of another address', 'refused', live, { email: 'bob@example.org' }],
    ['the right code of another request', 'refused', { ...live, id: 'cod_2' }, {}],
    ['the right code of another installation', 'refused', live, { secret: `${secret}.` }],
    ['the right code at its end', 'expired', { ...live, expiresAt: now }, {}],
    ['a code that nobody asked for', 'refused', null, {}],
  ])('%s is %s', (_what, verdict, known, changes) => {
    const { code, email } = binding;
    expect(checkCode(known, { code, email, secret, now, ...changes })).toBe(verdict);
  });

  it('lives ten minutes', () => {
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
  ])('is one: %s, %s', (isOne, token) => {
    expect(looksLikeSessionToken(token)).toBe(isOne);
  });

  const dayMs = 86_400_000;
  const session = { createdAt: at(-1), expiresAt: at(1), rotatedAt: null, revokedAt: null };
  it.each<[string, string, Partial<Record<keyof typeof session, Date>>]>([
    ['young', 'valid', {}],
    ['a moment younger than a day', 'valid', { createdAt: at(1 - dayMs) }],
    ['a day old', 'due', { createdAt: at(-dayMs) }],
    ['replaced a minute ago', 'valid', { rotatedAt: at(-60_000), createdAt: at(-2 * dayMs) }],
    ['replaced before that', 'reused', { rotatedAt: at(-60_001) }],
    ['at its end', 'expired', { expiresAt: now }],
    ['at its end and replaced', 'expired', { expiresAt: now, rotatedAt: at(-60_001) }],
    ['revoked', 'revoked', { revokedAt: at(-1), expiresAt: now, rotatedAt: at(-60_001) }],
  ])('that is %s is %s', (_what, state, changes) => {
    expect(sessionState({ ...session, ...changes }, now)).toBe(state);
  });
});

describe('who hears of this machine alone', () => {
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
  ])('%s: an address %s, an authority %s', (host, isAddress, isAuthority) => {
    expect(isLoopbackAddress(host)).toBe(isAddress);
    expect(isLoopbackAuthority(host)).toBe(isAuthority);
  });

  it('is not known without a host', () => {
    expect(isLoopbackAuthority(undefined)).toBe(false);
  });
});

describe('a request that may be shown a code', () => {
  const request = (headers: Record<string, string>, more: string[] = []) => {
    const rawHeaders = [...Object.entries(headers).flat(), ...more];
    return mayBeShownCode({ headers, rawHeaders });
  };
  const host = '127.0.0.1:3100';

  it('comes to a name of this machine, once', () => {
    expect(request({ host })).toBe(true);
    expect(request({ host, accept: 'host' })).toBe(true);
    expect(request({})).toBe(false);
    expect(request({ host: 'evil.example' })).toBe(false);
    expect(request({ host }, ['Host', 'evil.example'])).toBe(false);
  });

  it.each(['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-forwarded-proto', 'x-real-ip'])(
    'says nothing of %s',
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
  ])('from a page of %j: %s', (origin, isShown) => {
    expect(request({ host, origin })).toBe(isShown);
  });
});
