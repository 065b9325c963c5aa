import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { initDataLifetimeMs, readInitData } from '../src/identity/init-data.ts';

const botToken = '7342037359:AAHI25ES9xCOMPokpYoz-p8XVrZUdygo2J4';
const seconds = 1_772_366_400;
const signedAt = String(seconds);
const ada = { id: 42, first_name: 'Ada' };

/** Returns init data with these members and the signature of Telegram. */
function signed(members: Record<string, string>, respell = (hash: string) => hash): string {
  const lines = Object.entries(members).map(([name, value]) => `${name}=${value}`);
  const secret = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', secret).update(lines.sort().join('\n')).digest('hex');
  return new URLSearchParams({ ...members, hash: respell(hash) }).toString();
}

const read = (initData: string, ageMs = 0) =>
  readInitData(initData, { botToken, now: new Date(seconds * 1_000 + ageMs) });
const readUser = (user: unknown) => read(signed({ auth_date: signedAt, user: JSON.stringify(user) }));
const good = signed({ auth_date: signedAt, user: JSON.stringify(ada) });

describe('the person in init data', () => {
  it('is identified by id, name and hash', () => {
    const hash = new URLSearchParams(good).get('hash');
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(read(good)).toEqual({ messengerId: 'telegram:42', name: 'Ada', hash });
  });

  const longest = 'a'.repeat(256);
  it.each<[object, string]>([
    [{ ...ada, last_name: 'Lovelace', is_bot: false }, 'Ada Lovelace'],
    [{ ...ada, first_name: ' ', last_name: ' Lovelace ' }, 'Lovelace'],
    [{ ...ada, first_name: '' }, 'Telegram 42'],
    [{ ...ada, first_name: ' ', last_name: ' ' }, 'Telegram 42'],
    [{ id: 1, first_name: longest, last_name: longest }, `${longest} ${longest}`],
  ])('%j has the name %s', (user, name) => {
    expect(readUser(user)?.name).toBe(name);
  });

  it.each<[unknown]>([
    [null],
    [[]],
    [{ first_name: 'Ada' }],
    [{ ...ada, id: 0 }],
    [{ ...ada, id: 1.5 }],
    [{ ...ada, is_bot: true }],
    [{ id: 42 }],
    [{ ...ada, first_name: `${longest}a` }],
    [{ ...ada, last_name: `${longest}a` }],
    [{ ...ada, last_name: 'a\u0000b' }],
  ])('is not accepted from %j', (user) => {
    expect(readUser(user)).toBeNull();
  });

  it('is missing when a member is absent or is not JSON', () => {
    expect(read(signed({ auth_date: signedAt }))).toBeNull();
    expect(read(signed({ user: JSON.stringify(ada) }))).toBeNull();
    expect(read(signed({ auth_date: signedAt, user: '{' }))).toBeNull();
    expect(read('')).toBeNull();
  });
});

describe('init data', () => {
  it.each<[number, boolean]>([
    [0, true],
    [300_000, true],
    [300_001, false],
    [-60_000, true],
    [-60_001, false],
  ])('%d ms old is accepted: %s', (ageMs, isTaken) => {
    expect(read(good, ageMs) !== null).toBe(isTaken);
  });

  it('is accepted for six minutes at most', () => {
    expect(initDataLifetimeMs).toBe(360_000);
  });

  it.each(['', 'x', ` ${signedAt}`, `${signedAt} `, `${signedAt}.0`, `0x${seconds.toString(16)}`, `-${signedAt}`])(
    'with the time %j is refused',
    (authDate) => {
      expect(read(signed({ auth_date: authDate, user: JSON.stringify(ada) }))).toBeNull();
    },
  );

  it.each<[string, (hash: string) => string]>([
    ['in upper case', (hash) => hash.toUpperCase()],
    ['with characters before it', (hash) => `00${hash}`],
    ['with characters after it', (hash) => `${hash}00`],
    ['with other characters than hex digits after it', (hash) => `${hash}zz`],
    ['without its last characters', (hash) => hash.slice(0, 62)],
    ['as an empty text', () => ''],
    ['as the hash of another text', () => '0'.repeat(64)],
  ])('with the hash %s is refused', (_how, respell) => {
    expect(read(signed({ auth_date: signedAt, user: JSON.stringify(ada) }, respell))).toBeNull();
  });

  it('may contain a signature, signed or not, and no other unsigned member', () => {
    const members = { auth_date: signedAt, user: JSON.stringify(ada) };
    const alone = new URLSearchParams(signed(members));
    expect(read(signed({ ...members, signature: 'abc' }))).not.toBeNull();
    alone.set('signature', 'abc');
    expect(read(alone.toString())).not.toBeNull();
    alone.set('other', 'abc');
    expect(read(alone.toString())).toBeNull();
  });
});
