import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { sweep } from '../src/workers/sweep.ts';
import { clientOf, contentOf, rowsOf, startTestGateway, testConfig, testDatabase } from './_gateway.ts';

const botToken = '7342037359:AAHI25ES9xCOMPokpYoz-p8XVrZUdygo2J4';
let database: TestDatabase;
let gateway: StartedGateway;
let nowMs = Date.now();

const startWith = (more: Record<string, string>) =>
  startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0', ...more }), { now: () => new Date(nowMs) });

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startWith({ GOV_MESSENGER_BOT_TOKEN: botToken });
});

// Init data is accepted once and contains its second, so each test moves the clock by a second.
beforeEach(() => {
  nowMs += 1_000;
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const grace = { id: 279058397, first_name: 'Grace', last_name: 'Hopper', username: 'amazing', language_code: 'en' };

type Signing = {
  user?: unknown;
  ageMs?: number;
  more?: Record<string, string>;
  signs?: (name: string) => boolean;
  token?: string;
};

/** Returns init data in the form of Telegram: https://core.telegram.org/bots/webapps */
function initDataOf({
  user = grace,
  ageMs = 0,
  more = {},
  signs = () => true,
  token = botToken,
}: Signing = {}): string {
  const members: Record<string, string> = {
    query_id: 'AAHdF6IQAAAAAN0XohDhrOrc',
    user: typeof user === 'string' ? user : JSON.stringify(user),
    auth_date: String(Math.floor((nowMs - ageMs) / 1_000)),
    ...more,
  };
  const checked = Object.entries(members).filter(([name]) => signs(name));
  const text = checked
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join('\n');
  const secret = createHmac('sha256', 'WebAppData').update(token).digest();
  return new URLSearchParams({ ...members, hash: createHmac('sha256', secret).update(text).digest('hex') }).toString();
}

const signIn = (initData: string, url = gateway.url) => clientOf(url).signInByMessenger({ body: { initData } });
const refused = { status: 401, code: 'CREDENTIALS_INVALID' };

describe('init data of a messenger', () => {
  verifies('gw.auth.messenger', 'signs its person in once, to the same workspace each time', async () => {
    const initData = initDataOf();
    const { body } = await signIn(initData);
    expect(body).toMatchObject({
      user: { name: 'Grace Hopper', email: null },
      workspace: { name: "Grace Hopper's workspace" },
    });
    const me = clientOf(gateway.url, { authorization: `Bearer ${body.token}` });
    expect((await me.getMe()).body).toMatchObject({
      user: body.user,
      workspaces: expect.arrayContaining([expect.objectContaining({ id: body.workspace.id, role: 'owner' })]),
    });
    await expect(signIn(initData)).rejects.toMatchObject(refused);
    nowMs += 1_000;
    expect((await signIn(initDataOf())).body).toMatchObject({ user: body.user, workspace: body.workspace });
    nowMs += 1_000;
    const raced = initDataOf({ user: { ...grace, id: 7 } });
    const attempts = await Promise.allSettled(Array.from({ length: 8 }, () => signIn(raced)));
    expect(attempts.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  verifies('gw.auth.messenger', 'is accepted with a `signature`, whether or not the hash covers it', async () => {
    const more = {
      signature: 'zL-ucjNyREiHDE8aihFwpfR9aggP2xiAo3NSpfe-p7IbCisNlDKlo7Kb6G4D0Ao2mBrSgEk4maLSdv6MLIlADQ',
    };
    nowMs += 1_000;
    await signIn(initDataOf({ more }));
    nowMs += 1_000;
    const unsigned = initDataOf({ more, signs: (name) => name !== 'signature' });
    await signIn(unsigned);
    const second = new URLSearchParams(unsigned);
    second.set('signature', 'other');
    await expect(signIn(second.toString())).rejects.toMatchObject(refused);
  });

  verifies(
    'gw.auth.messenger',
    'is refused when it is tampered with, stale, of the future, or of another bot',
    async () => {
      nowMs += 10_000;
      const before = await contentOf(database);
      const good = initDataOf();
      const changed = (change: (members: URLSearchParams) => void) => {
        const members = new URLSearchParams(good);
        change(members);
        return members.toString();
      };
      const bad = [
        changed((members) => members.set('user', JSON.stringify({ ...grace, id: 1 }))),
        changed((members) => members.set('auth_date', String(Number(members.get('auth_date')) + 1))),
        changed((members) => members.append('extra', '1')),
        changed((members) => members.append('user', JSON.stringify({ ...grace, id: 1 }))),
        changed((members) => members.delete('query_id')),
        changed((members) => members.delete('hash')),
        changed((members) => members.set('hash', '')),
        changed((members) => members.set('hash', (members.get('hash') ?? '').toUpperCase())),
        changed((members) => members.set('hash', (members.get('hash') ?? '').slice(0, 62))),
        initDataOf({ token: '7342037359:AAHI25ES9xCOMPokpYoz-p8XVrZUdygo2J5' }),
        initDataOf({ ageMs: 301_000 }),
        initDataOf({ ageMs: -61_000 }),
        initDataOf({ more: { auth_date: '' } }),
        initDataOf({ more: { auth_date: '1e9' } }),
        initDataOf({ user: '{' }),
        initDataOf({ user: { ...grace, id: '279058397' } }),
        initDataOf({ user: { ...grace, is_bot: true } }),
        initDataOf({ user: { ...grace, first_name: 'a\u0000b' } }),
        'nonsense',
      ];
      for (const initData of bad) await expect(signIn(initData)).rejects.toMatchObject(refused);
      expect(await contentOf(database)).toEqual(before);
      await signIn(good);
      await signIn(initDataOf({ ageMs: 299_000 }));
      await signIn(initDataOf({ ageMs: -59_000 }));
    },
  );

  it('is remembered for as long as it could be replayed, and no longer', async () => {
    await sweep(gateway.context);
    nowMs += 1_000;
    const late = initDataOf({ ageMs: -59_000 });
    await signIn(late);
    nowMs += 350_000;
    await sweep(gateway.context);
    await expect(signIn(late)).rejects.toMatchObject(refused);
    nowMs += 20_000;
    await sweep(gateway.context);
    expect(await rowsOf(database, 'SELECT 1 FROM messenger_sign_ins')).toEqual([]);
    await expect(signIn(late)).rejects.toMatchObject(refused);
  });

  it('opens no workspace for people whom the operator does not allow, and nothing without a bot', async () => {
    const closed = await startWith({ GOV_MESSENGER_BOT_TOKEN: botToken, GOV_SIGN_UP: '@example.org, telegram:42' });
    const none = await startWith({});
    try {
      await signIn(initDataOf({ user: { ...grace, id: 42 } }), closed.url);
      await expect(signIn(initDataOf({ user: { ...grace, id: 43 } }), closed.url)).rejects.toMatchObject({
        code: 'PERMISSION_DENIED',
      });
      expect(await rowsOf(database, "SELECT 1 FROM users WHERE messenger_id = 'telegram:43'")).toEqual([]);
      await expect(signIn(initDataOf(), none.url)).rejects.toMatchObject({
        status: 503,
        code: 'MESSENGER_NOT_CONFIGURED',
      });
    } finally {
      await Promise.all([closed.stop(), none.stop()]);
    }
  });
});
