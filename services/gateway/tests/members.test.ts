import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { sweep } from '../src/workers/sweep.ts';
import {
  clientOf,
  contentOf,
  putMember,
  rowsOf,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';

type Mail = { to: string; url: string };

let database: TestDatabase;
let gateway: StartedGateway;
let otherGateway: StartedGateway;
let ada: Person;
let nowMs = Date.now();
const mails: Mail[] = [];
const codes: Record<string, string> = {};
let isMailDown = false;
const dayMs = 24 * 3_600_000;

const mailer = {
  sendCode: (email: string, code: string) => {
    codes[email] = code;
    return Promise.resolve();
  },
  sendInvite: (to: string, { url }: { url: string }) => {
    if (isMailDown) return Promise.reject(new Error('The mail server is down'));
    mails.push({ to, url });
    return Promise.resolve(true);
  },
  sendNotification: () => Promise.resolve(),
  close: () => undefined,
};

beforeAll(async () => {
  database = await testDatabase();
  // Only admitted addresses may open a workspace. Invited people need no admission.
  const config = testConfig(database, {
    GOV_RUN_WORKERS: '0',
    GOV_SIGN_UP: '@example.org',
    GOV_SMTP_URL: 'smtp://127.0.0.1:9',
    GOV_CONTROL_PLANE_URL: 'http://127.0.0.1:9',
  });
  const options = { now: () => new Date(nowMs), mailer };
  gateway = await startTestGateway(config, options);
  otherGateway = await startTestGateway(config, options);
});

beforeEach(async () => {
  // Each test is an hour later, because the number of codes per address and hour is limited.
  nowMs += 3_600_000;
  ada = await signedIn('ada@example.org');
  const [id, own] = [ada.workspace.id, ada.user.id];
  await rowsOf(database, 'DELETE FROM invites WHERE workspace_id = $1', [id]);
  await rowsOf(database, 'DELETE FROM workspace_members WHERE workspace_id = $1 AND user_id <> $2', [id, own]);
});

afterAll(async () => {
  await gateway?.stop();
  await otherGateway?.stop();
  await database?.drop();
});

async function signedIn(email: string): Promise<Person> {
  await clientOf(gateway.url).requestEmailCode({ body: { email } });
  const { body } = await clientOf(gateway.url).verifyEmailCode({ body: { email, code: codes[email] ?? '' } });
  const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
  return { ...body, headers, client: clientOf(gateway.url, headers) };
}

async function invited(email: string, role: 'partner' | 'member' = 'member', by = ada): Promise<string> {
  const { body } = await by.client.createInvite({ params: { id: by.workspace.id }, body: { email, role } });
  return body.inviteToken;
}

const accept = (token: string, email: string, headers: Record<string, string> = {}) =>
  clientOf(gateway.url, headers).acceptInvite({ params: { token }, body: { email } });

const membersOf = async (person: Person, id = person.workspace.id) =>
  (await person.client.getWorkspace({ params: { id } })).body.members.map(({ email, role }) => `${email} ${role}`);

/** Returns the roles of a person by workspace, without twins of workspaces, which have the same members. */
async function rolesOf(person: Person): Promise<Record<string, string>> {
  const { workspaces } = (await person.client.getMe()).body;
  const twins = await rowsOf<{ id: string }>(
    database,
    "SELECT owner AS id FROM twins.kept WHERE of_table = 'workspaces'",
  );
  const own = workspaces.filter(({ id }) => !twins.some((twin) => twin.id === id));
  return Object.fromEntries(own.map(({ id, role }) => [id, role]));
}

const notFound = { code: 'NOT_FOUND', status: 404 };

describe('an invite', () => {
  verifies(
    'gw.invite',
    'makes the person of the address a member once the code is verified, without a workspace of their own',
    async () => {
      const answer = await ada.client.createInvite({
        params: { id: ada.workspace.id },
        body: { email: 'Guest@elsewhere.example', role: 'partner' },
      });
      expect(answer.status).toBe(201);
      const { inviteToken, ...report } = answer.body;
      expect(report).toEqual({
        inviteUrl: expect.stringContaining(`/console/invite/${inviteToken}`),
        role: 'partner',
        expiresIn: '7 days',
        mailed: true,
      });
      expect(mails.at(-1)).toEqual({ to: 'guest@elsewhere.example', url: report.inviteUrl });
      const page = await fetch(new URL(`/invite/${inviteToken}`, gateway.url));
      expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(`href="${report.inviteUrl}"`)]);
      await expect(signedIn('guest@elsewhere.example')).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });

      expect((await accept(inviteToken, 'guest@elsewhere.example')).body).toEqual({
        accepted: true,
        verificationRequired: true,
      });
      expect(await membersOf(ada)).toEqual(['ada@example.org owner']);
      const code = codes['guest@elsewhere.example'] ?? '';
      const { body } = await clientOf(gateway.url).verifyEmailCode({
        body: { email: 'guest@elsewhere.example', code },
      });
      expect(body.workspace).toEqual({ id: ada.workspace.id, name: "ada's workspace" });
      expect(await membersOf(ada)).toEqual(['ada@example.org owner', 'guest@elsewhere.example partner']);
      const again = await signedIn('guest@elsewhere.example');
      expect((await again.client.getMe()).body.user).toMatchObject({ name: 'guest', email: 'guest@elsewhere.example' });
      expect(await rolesOf(again)).toEqual({ [ada.workspace.id]: 'partner' });
      await expect(accept(inviteToken, 'guest@elsewhere.example')).rejects.toMatchObject(notFound);
      const story = (await ada.client.listAudit()).body.data.map(({ action }) => action);
      expect(story).toEqual(expect.arrayContaining(['invite.created', 'member.joined']));
      const stored = JSON.stringify(await rowsOf(database, 'SELECT * FROM invites'));
      expect(stored).not.toContain(inviteToken);
    },
  );

  verifies(
    'gw.invite',
    'admits its person at once with a session of the invited address, and the person keeps the first workspace',
    async () => {
      const bea = await signedIn('bea@example.org');
      const token = await invited('bea@example.org');
      const { body } = await accept(token, 'bea@example.org', bea.headers);
      expect(body).toEqual({
        accepted: true,
        verificationRequired: false,
        workspace: { id: ada.workspace.id, name: "ada's workspace" },
        role: 'member',
      });
      expect(await rolesOf(bea)).toEqual({ [bea.workspace.id]: 'owner', [ada.workspace.id]: 'member' });
    },
  );

  verifies(
    'gw.invite',
    'gives nothing to another address, with or without a session, and answers as if it did not exist',
    async () => {
      const eve = await signedIn('eve@example.org');
      const token = await invited('cara@example.org', 'partner');
      const before = await contentOf(database);
      const answers = await Promise.all(
        [
          accept(token, 'eve@example.org'),
          accept(token, 'eve@example.org', eve.headers),
          accept(token, 'cara@example.org', eve.headers),
          accept(`csi_${'A'.repeat(43)}`, 'eve@example.org'),
          accept('nonsense', 'eve@example.org'),
        ].map((attempt) =>
          attempt
            .then(() => 'accepted')
            .catch((error: { code: string; message: string }) => `${error.code} ${error.message}`),
        ),
      );
      expect(new Set(answers)).toEqual(
        new Set(['NOT_FOUND This object does not exist, or you have no access to it. Check its ID and the workspace']),
      );
      await expect(accept(token, 'cara@example.org', { authorization: 'Bearer cs_x' })).rejects.toMatchObject({
        code: 'CREDENTIALS_INVALID',
      });
      expect(codes['eve@example.org']).toBeDefined();
      expect(await contentOf(database)).toEqual(before);
      await signedIn('cara@example.org');
      expect(await membersOf(ada)).not.toContain('cara@example.org partner');
    },
  );

  verifies(
    'gw.invite',
    'ends after seven days, when it is revoked, and when the address is invited again',
    async () => {
      const late = await invited('late@example.org');
      const accepted = await invited('slow@example.org');
      await accept(accepted, 'slow@example.org');
      nowMs += 7 * dayMs;
      ada = await signedIn('ada@example.org');
      await expect(accept(late, 'late@example.org')).rejects.toMatchObject(notFound);
      await signedIn('slow@example.org');
      expect(await membersOf(ada)).not.toContain('slow@example.org member');

      const first = await invited('twice@example.org');
      const second = await invited('twice@example.org', 'partner');
      await expect(accept(first, 'twice@example.org')).rejects.toMatchObject(notFound);
      const listed = (await ada.client.listInvites({ params: { id: ada.workspace.id } })).body.data;
      expect(listed.map(({ email, role, state }) => `${email} ${role} ${state}`)).toEqual([
        'twice@example.org partner open',
      ]);
      await accept(second, 'twice@example.org');
      const [{ id: inviteId, state } = { id: '', state: '' }] = (
        await ada.client.listInvites({ params: { id: ada.workspace.id } })
      ).body.data;
      expect(state).toBe('accepted');
      await ada.client.revokeInvite({ params: { id: ada.workspace.id, inviteId } });
      await signedIn('twice@example.org');
      expect(await membersOf(ada)).not.toContain('twice@example.org partner');
      await expect(ada.client.revokeInvite({ params: { id: ada.workspace.id, inviteId } })).rejects.toMatchObject(
        notFound,
      );
    },
  );

  it('is visible only in its own workspace', async () => {
    const dan = await signedIn('dan@example.org');
    await invited('shared@example.org');
    await invited('shared@example.org', 'partner', dan);
    const [adas, dans] = await Promise.all(
      [ada, dan].map(async ({ client, workspace: { id } }) => (await client.listInvites({ params: { id } })).body.data),
    );
    expect([adas, dans].map((list) => list?.map(({ role }) => role))).toEqual([['member'], ['partner']]);
    await expect(
      dan.client.revokeInvite({ params: { id: dan.workspace.id, inviteId: adas?.[0]?.id ?? '' } }),
    ).rejects.toMatchObject(notFound);
  });

  it('is refused for a member, for the role of an owner and above 100 live ones', async () => {
    const hal = await signedIn('hal@example.org');
    const invite = (body: object) =>
      fetch(new URL(`/api/workspace/${hal.workspace.id}/invite`, gateway.url), {
        method: 'POST',
        headers: { ...hal.headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then(({ status }) => status);
    expect(await invite({ email: 'hal@example.org' })).toBe(409);
    expect(await invite({ email: 'x@example.org', role: 'owner' })).toBe(400);
    for (let nth = 0; nth < 100; nth += 1) await invited(`n${nth}@example.org`, 'member', hal);
    expect(await invite({ email: 'one-more@example.org' })).toBe(429);
    expect(await invite({ email: 'n7@example.org' })).toBe(201);
  });

  it('is created while the mail server is down, and reports that no mail was sent', async () => {
    isMailDown = true;
    const params = { id: ada.workspace.id };
    const { body } = await ada.client.createInvite({ params, body: { email: 'unmailed@example.org', role: 'member' } });
    isMailDown = false;
    expect(body.mailed).toBe(false);
    expect((await accept(body.inviteToken, 'unmailed@example.org')).body.accepted).toBe(true);
  });

  it('is removed a month after its end', async () => {
    await invited('gone@example.org');
    const remaining = () => rowsOf(database, "SELECT 1 FROM invites WHERE email = 'gone@example.org'");
    nowMs += 36 * dayMs;
    await sweep(gateway.context);
    expect(await remaining()).toHaveLength(1);
    nowMs += 2 * dayMs;
    await sweep(gateway.context);
    expect(await remaining()).toHaveLength(0);
    ada = await signedIn('ada@example.org');
  });
});

describe('a member', () => {
  it('is changed and removed by an owner, with effect on the next request', async () => {
    const owner = await signedIn('olga@example.org');
    const guest = await signedIn('gus@example.org');
    const { id } = owner.workspace;
    const userId = guest.user.id;
    await accept(await invited('gus@example.org', 'member', owner), 'gus@example.org', guest.headers);
    const inOwners = clientOf(gateway.url, { ...guest.headers, 'x-workspace-id': id });
    await expect(inOwners.putWorkspaceMode({ params: { id }, body: { mode: 'build' } })).rejects.toMatchObject({
      status: 403,
    });
    const { body } = await owner.client.putMemberRole({ params: { id, userId }, body: { role: 'owner' } });
    expect(body).toEqual({ userId, role: 'owner' });
    await inOwners.putWorkspaceMode({ params: { id }, body: { mode: 'build' } });
    await owner.client.removeMember({ params: { id, userId } });
    await expect(inOwners.getWorkspace({ params: { id } })).rejects.toMatchObject(notFound);
    for (const gone of [userId, 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', 'nobody'])
      await expect(owner.client.removeMember({ params: { id, userId: gone } })).rejects.toMatchObject(notFound);
    const messages = (await owner.client.listAudit()).body.data.map(({ action, subject }) => [action, subject]);
    expect(messages).toEqual(
      expect.arrayContaining([
        ['member.role_changed', userId],
        ['member.removed', userId],
      ]),
    );
    expect(await rolesOf(guest)).toEqual({ [guest.workspace.id]: 'owner' });
  });

  it('can leave, unless the workspace would have no owner', async () => {
    const owner = await signedIn('lena@example.org');
    const { id } = owner.workspace;
    const last = { code: 'LAST_OWNER', status: 409 };
    await expect(owner.client.leaveWorkspace({ params: { id } })).rejects.toMatchObject(last);
    await expect(owner.client.removeMember({ params: { id, userId: owner.user.id } })).rejects.toMatchObject(last);
    await expect(
      owner.client.putMemberRole({ params: { id, userId: owner.user.id }, body: { role: 'partner' } }),
    ).rejects.toMatchObject(last);
    const guest = await signedIn('mia@example.org');
    await putMember(database, { workspaceId: id, userId: guest.user.id, role: 'owner' });
    await owner.client.leaveWorkspace({ params: { id } });
    expect(await membersOf(clientPerson(guest, id), id)).toEqual(['mia@example.org owner']);
  });

  it('cannot be the last owner to leave when two leave at once on two replicas', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const first = await signedIn(`race-a${turn}@example.org`);
      const second = await signedIn(`race-b${turn}@example.org`);
      const { id } = first.workspace;
      await putMember(database, { workspaceId: id, userId: first.user.id, role: 'owner' });
      await putMember(database, { workspaceId: id, userId: second.user.id, role: 'owner' });
      const leaves = [
        clientOf(gateway.url, first.headers),
        clientOf(otherGateway.url, { ...second.headers, 'x-workspace-id': id }),
      ];
      const ended = await Promise.allSettled(leaves.map((client) => client.leaveWorkspace({ params: { id } })));
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const owners = await rowsOf(
        database,
        "SELECT 1 FROM workspace_members WHERE workspace_id = $1 AND role = 'owner'",
        [id],
      );
      expect(owners).toHaveLength(1);
    }
  });
});

describe('the list of members', () => {
  const reportOf = async (id: string) => {
    const rows = await rowsOf<{ data: { version: number; members: { userId: string; role: string }[] } }>(
      database,
      `SELECT envelope::json -> 'data' AS data FROM outbox
        WHERE type = 'workspace.members.changed.v1' AND envelope::json ->> 'tenantid' = $1`,
      [id],
    );
    const lists = rows.map(({ data: { version, members } }) => {
      const roles = members.map(({ userId, role }) => `${userId} ${role}`).sort();
      return [version, ...roles] as const;
    });
    return lists.sort(([left], [right]) => left - right);
  };

  it('is published as a whole with each change, under a rising version', async () => {
    const owner = await signedIn('olive@example.org');
    const guest = await signedIn('paul@example.org');
    const { id } = owner.workspace;
    await accept(await invited('paul@example.org', 'member', owner), 'paul@example.org', guest.headers);
    const params = { id, userId: guest.user.id };
    // A request without a change is not published.
    await owner.client.putMemberRole({ params, body: { role: 'member' } });
    await owner.client.putMemberRole({ params, body: { role: 'partner' } });
    await owner.client.removeMember({ params });
    const [itself, neighbour] = [`${owner.user.id} owner`, guest.user.id];
    expect(await reportOf(id)).toEqual([
      [1, itself],
      [2, ...[itself, `${neighbour} member`].sort()],
      [3, ...[itself, `${neighbour} partner`].sort()],
      [4, itself],
    ]);
  });

  it('is published again after an hour by one replica, and not before', async () => {
    const { user, workspace } = await signedIn('quinn@example.org');
    const sweeps = () => Promise.all([sweep(gateway.context), sweep(otherGateway.context)]);
    await sweeps();
    expect(await reportOf(workspace.id)).toHaveLength(1);
    nowMs += 3_601_000;
    await sweeps();
    await sweeps();
    nowMs -= 3_601_000;
    const list = [1, `${user.id} owner`];
    expect(await reportOf(workspace.id)).toEqual([list, list]);
  });
});

function clientPerson(person: Person, id: string): Person {
  const headers = { ...person.headers, 'x-workspace-id': id };
  return { ...person, headers, client: clientOf(gateway.url, headers) };
}
