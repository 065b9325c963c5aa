import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import { requireAddress } from '../src/identity/require-address.ts';
import { newSessionToken } from '../src/identity/session-token.ts';
import { issueLocalSignIn, type StartedGateway } from '../src/index.ts';
import { clientOf, rowsOf, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let closed: StartedGateway;
let nowMs = Date.now();
const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const codes: Record<string, string> = {};
let isMailDown = false;

const mailer = {
  sendCode: (email: string, code: string) => {
    if (isMailDown) return Promise.reject(new Error('The mail server is down'));
    codes[email] = code;
    return Promise.resolve();
  },
  sendInvite: () => Promise.resolve(true),
  sendNotification: () => Promise.resolve(),
  close: () => undefined,
};

beforeAll(async () => {
  // Twins are off, because this test counts the workspaces of a person and removes the last one.
  database = await testDatabase({ twins: false });
  const now = () => new Date(nowMs);
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }), { now });
  const more = { GOV_RUN_WORKERS: '0', GOV_SMTP_URL: 'smtp://127.0.0.1:9', GOV_SIGN_UP: '@example.org' };
  closed = await startTestGateway(testConfig(database, more), { now, mailer });
});

afterAll(async () => {
  await gateway?.stop();
  await closed?.stop();
  await database?.drop();
});

const refused = { status: 401, code: 'CREDENTIALS_INVALID' };

/** Removes a person from all workspaces. */
const leaveAlone = ({ user }: Person) =>
  rowsOf(database, 'DELETE FROM workspace_members WHERE user_id = $1', [user.id]);

/** Returns the reasons for which the sessions of a person ended. */
async function endingsOf({ user }: Person): Promise<unknown[]> {
  const rows = await rowsOf(database, 'SELECT DISTINCT revoke_reason FROM sessions WHERE user_id = $1', [user.id]);
  return rows.map(({ revoke_reason }) => revoke_reason as unknown);
}

describe('a session', () => {
  it('of an unknown person is refused', async () => {
    const nobody = clientOf(gateway.url, { authorization: `Bearer ${newSessionToken()}` });
    await expect(nobody.getMe()).rejects.toMatchObject(refused);
  });

  verifies('gw.auth.rotation', 'that is younger than a day gets no successor', async () => {
    const { client } = await signInAs(gateway.url, 'young@example.org');
    nowMs += dayMs - 1;
    expect((await client.listTasks()).headers.has('x-new-token')).toBe(false);
    nowMs += 1;
    expect((await client.listTasks()).headers.has('x-new-token')).toBe(true);
  });

  verifies(
    'gw.auth.rotation',
    'of a person without a workspace also ends when its replaced token is reused',
    async () => {
      const person = await signInAs(gateway.url, 'reused@example.org');
      nowMs += dayMs;
      const token = (await person.client.listTasks()).headers.get('x-new-token');
      await leaveAlone(person);
      const heir = clientOf(gateway.url, { authorization: `Bearer ${token}` });
      await heir.getMe();
      nowMs += minuteMs + 1;
      await expect(person.client.getMe()).rejects.toMatchObject(refused);
      await expect(heir.getMe()).rejects.toMatchObject(refused);
      expect(await endingsOf(person)).toEqual(['token_reused']);
    },
  );

  verifies(
    'gw.auth.logout',
    'of a person without a workspace can also be ended, by itself or by another session of the person',
    async () => {
      const person = await signInAs(gateway.url, 'gone@example.org');
      await leaveAlone(person);
      await person.client.endSession();
      await expect(person.client.getMe()).rejects.toMatchObject(refused);
      expect(await endingsOf(person)).toEqual(['signed_out']);

      const laptop = await signInAs(gateway.url, 'two@example.org');
      const phone = await signInAs(gateway.url, 'two@example.org');
      const { data } = (await phone.client.listSessions()).body;
      await phone.client.revokeSession({ params: { id: data.find(({ current }) => !current)?.id ?? '' } });
      await expect(laptop.client.getMe()).rejects.toMatchObject(refused);
      expect(new Set(await endingsOf(phone))).toEqual(new Set(['revoked', null]));
    },
  );
});

describe('a code', () => {
  const request = async (email: string) =>
    (await clientOf(gateway.url).requestEmailCode({ body: { email } })).body.code ?? '';

  verifies('gw.auth.email', 'is replaced by a new one at the moment it expires', async () => {
    const email = 'next@example.org';
    const first = await request(email);
    nowMs += 10 * minuteMs;
    const second = await request(email);
    expect(second).not.toBe(first);
    const { body } = await clientOf(gateway.url).verifyEmailCode({ body: { email, code: second } });
    expect(body.user.email).toBe(email);
  });

  verifies('gw.auth.email', 'that was never requested signs no person in', async () => {
    const verified = clientOf(gateway.url).verifyEmailCode({ body: { email: 'never@example.org', code: '000000' } });
    await expect(verified).rejects.toMatchObject({ code: 'CODE_INVALID' });
  });

  it('that is issued at the terminal is for the address in lower case, without surrounding blanks', async () => {
    expect((await issueLocalSignIn(gateway.context, '  Local@Example.org\n')).email).toBe('local@example.org');
  });

  verifies('gw.auth.email', 'that the mail server refuses is reported as unavailable', async () => {
    isMailDown = true;
    const pending = clientOf(closed.url).requestEmailCode({ body: { email: 'down@example.org' } });
    await expect(pending.finally(() => (isMailDown = false))).rejects.toMatchObject({ code: 'MAIL_UNAVAILABLE' });
    const { body } = await clientOf(closed.url).requestEmailCode({ body: { email: 'down@example.org' } });
    expect(body).toEqual({ sent: true, email: 'down@example.org' });
  });
});

describe('where the operator lets in addresses of one domain', () => {
  const enter = async (email: string): Promise<Person> => {
    await clientOf(closed.url).requestEmailCode({ body: { email } });
    return verified(email);
  };
  const verified = async (email: string): Promise<Person> => {
    const { body } = await clientOf(closed.url).verifyEmailCode({ body: { email, code: codes[email] ?? '' } });
    const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
    return { ...body, headers, client: clientOf(closed.url, headers) };
  };
  const opened = (person: Person, name: string) => person.client.openWorkspace({ body: { name } });

  verifies(
    'gw.invite',
    'a person of a different domain joins by an invite, can sign in again, and cannot open a workspace',
    async () => {
      const owner = await enter('owner@example.org');
      const email = 'guest@elsewhere.example';
      await expect(enter(email)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      const params = { id: owner.workspace.id };
      const { body } = await owner.client.createInvite({ params, body: { email, role: 'member' } });
      await clientOf(closed.url).acceptInvite({ params: { token: body.inviteToken }, body: { email } });
      const guest = await verified(email);
      expect(guest.workspace).toEqual(owner.workspace);
      expect((await enter(email)).workspace).toEqual(owner.workspace);
      await expect(opened(guest, 'Mine')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      // It is enough that one proven name of the person may sign up.
      await rowsOf(database, "UPDATE users SET messenger_id = 'telegram:7' WHERE id = $1", [owner.user.id]);
      expect((await opened(owner, 'Mine')).body).toMatchObject({ name: 'Mine', role: 'owner' });
    },
  );

  it('a person owns at most 100 workspaces, also with simultaneous requests', async () => {
    const owner = await enter('many@example.org');
    const theirs = [owner.user.id, Array.from({ length: 97 }, (_, nr) => `wsp_${String(nr).padStart(26, '0')}`)];
    await rowsOf(
      database,
      `WITH made AS (INSERT INTO workspaces (id, name, created_by, created_at, updated_at)
                     SELECT id, 'other', $1, now(), now() FROM unnest($2::text[]) id RETURNING id)
       INSERT INTO workspace_members (workspace_id, user_id, role, joined_at) SELECT id, $1, 'owner', now() FROM made`,
      theirs,
    );
    const attempts = await Promise.allSettled(Array.from({ length: 5 }, (_, nr) => opened(owner, `Team ${nr}`)));
    const ended = attempts.map((one) => (one.status === 'fulfilled' ? 'made' : (one.reason as { code: string }).code));
    expect(ended.toSorted()).toEqual(['RATE_LIMITED', 'RATE_LIMITED', 'RATE_LIMITED', 'made', 'made']);
  });
});

describe('the address that codes go to', () => {
  it('belongs to one person only', async () => {
    const { user } = await signInAs(gateway.url, 'ada@example.org');
    expect(await requireAddress(gateway.context, user.id)).toEqual(user);
    await rowsOf(database, "UPDATE users SET email = NULL, messenger_id = 'telegram:8' WHERE id = $1", [user.id]);
    const unknown = `usr_${'0'.repeat(26)}`;
    for (const text of [user.id, unknown, '', 'ada@example.org'])
      await expect(requireAddress(gateway.context, text)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
