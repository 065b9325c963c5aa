import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { clientOf, rowsOf, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

type Sent = { code: string; joins: { workspace: string; from: string } | null };

let database: TestDatabase;
let gateway: StartedGateway;
let otherGateway: StartedGateway;
let eve: Person;
const sent: Record<string, Sent> = {};

const mailer = {
  sendCode: (email: string, code: string, joins: Sent['joins']) => {
    sent[email] = { code, joins };
    return Promise.resolve();
  },
  sendInvite: () => Promise.resolve(true),
  sendNotification: () => Promise.resolve(),
  close: () => undefined,
};

beforeAll(async () => {
  database = await testDatabase();
  const config = testConfig(database, { GOV_RUN_WORKERS: '0', GOV_SMTP_URL: 'smtp://127.0.0.1:9' });
  gateway = await startTestGateway(config, { mailer });
  otherGateway = await startTestGateway(config, { mailer });
  eve = await signedIn('eve@example.org');
});

afterAll(async () => {
  await gateway?.stop();
  await otherGateway?.stop();
  await database?.drop();
});

const codeOf = (email: string) => sent[email]?.code ?? '';

async function verified(email: string, code: string, url = gateway.url): Promise<Person> {
  const { body } = await clientOf(url).verifyEmailCode({ body: { email, code } });
  const headers = { authorization: `Bearer ${body.token}`, 'x-workspace-id': body.workspace.id };
  return { ...body, headers, client: clientOf(url, headers) };
}

async function signedIn(email: string): Promise<Person> {
  await clientOf(gateway.url).requestEmailCode({ body: { email } });
  return verified(email, codeOf(email));
}

async function invited(email: string, by = eve): Promise<string> {
  const { body } = await by.client.createInvite({ params: { id: by.workspace.id }, body: { email, role: 'member' } });
  return body.inviteToken;
}

const accept = (token: string, email: string, headers: Record<string, string> = {}, url = gateway.url) =>
  clientOf(url, headers).acceptInvite({ params: { token }, body: { email } });

/**
 * Returns whether the person is a member of the workspace. Twins of workspaces have the same members and are excluded.
 */
async function isMember(person: Person, { workspace } = eve): Promise<boolean> {
  return (await person.client.getMe()).body.workspaces.some(({ id }) => id === workspace.id);
}

describe('an invite that another person accepted', () => {
  verifies(
    'gw.invite',
    'makes no member of a person who only signs in, with a code requested before or after it was accepted',
    async () => {
      const email = 'victim@example.org';
      const victim = await signedIn(email);
      await clientOf(gateway.url).requestEmailCode({ body: { email } });
      const before = codeOf(email);
      // The inviter also has the token, so the token does not prove who accepts.
      await accept(await invited(email), email);
      expect(sent[email]?.joins).toMatchObject({ workspace: "eve's workspace", from: 'eve@example.org' });
      expect(codeOf(email)).not.toBe(before);
      await clientOf(gateway.url).requestEmailCode({ body: { email } });
      expect(sent[email]).toEqual({ code: before, joins: null });

      const again = await verified(email, before);
      expect(again.workspace.id).toBe(victim.workspace.id);
      expect(await isMember(again)).toBe(false);
      const later = await signedIn(email);
      expect([later.workspace.id, await isMember(later)]).toEqual([victim.workspace.id, false]);
    },
  );

  verifies('gw.invite', 'admits no person who accepts only a different invite in a session', async () => {
    const email = 'busy@example.org';
    const ada = await signedIn('ada@example.org');
    const busy = await signedIn(email);
    await accept(await invited(email), email);
    await accept(await invited(email, ada), email, busy.headers);
    expect([await isMember(busy, ada), await isMember(busy)]).toEqual([true, false]);
  });
});

describe('the code of an invite', () => {
  verifies('gw.invite', 'admits its person to the workspace of its own invite once, on any replica', async () => {
    const email = 'guest@example.org';
    const token = await invited(email);
    await accept(token, email);
    const first = codeOf(email);
    const ada = await signedIn('ada2@example.org');
    await accept(await invited(email, ada), email, {}, otherGateway.url);
    // The code belongs to an earlier accepted invite.
    await expect(verified(email, first)).rejects.toMatchObject({ code: 'CODE_INVALID' });
    const tries = await Promise.allSettled(
      Array.from({ length: 10 }, (_, nth) =>
        verified(email, codeOf(email), nth % 2 === 0 ? gateway.url : otherGateway.url),
      ),
    );
    const [joined, ...more] = tries.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    expect(more).toEqual([]);
    if (joined === undefined) throw new Error('No person was signed in');
    expect(joined.workspace.id).toBe(ada.workspace.id);
    expect([await isMember(joined, ada), await isMember(joined)]).toEqual([true, false]);
    await accept(token, email, joined.headers);
    expect(await isMember(joined)).toBe(true);
    const stored = JSON.stringify(await rowsOf(database, 'SELECT * FROM email_codes'));
    expect(stored).not.toContain(`"${codeOf(email)}"`);
  });

  verifies('gw.invite', 'still admits its person after a code was requested that only signs in', async () => {
    const email = 'forgetful@example.org';
    await accept(await invited(email), email);
    const joining = codeOf(email);
    await clientOf(gateway.url).requestEmailCode({ body: { email } });
    expect(codeOf(email)).not.toBe(joining);
    expect(await isMember(await verified(email, joining))).toBe(true);
  });

  it('only signs in when the invite was revoked in the meantime', async () => {
    const email = 'late@example.org';
    await accept(await invited(email), email);
    const { id } = eve.workspace;
    const { body } = await eve.client.listInvites({ params: { id } });
    const inviteId = body.data.find((invite) => invite.email === email)?.id ?? '';
    await eve.client.revokeInvite({ params: { id, inviteId } });
    expect(await isMember(await verified(email, codeOf(email)))).toBe(false);
  });

  it('causes no unexpected error when its invite is accepted and created again at the same time', async () => {
    const owner = await signedIn('racer@example.org');
    const guest = await signedIn('raced@example.org');
    const { id } = owner.workspace;
    for (let turn = 0; turn < 10; turn += 1) {
      const token = await invited('raced@example.org', owner);
      const ended = await Promise.allSettled([
        ...[gateway.url, otherGateway.url].map((url) => accept(token, 'raced@example.org', guest.headers, url)),
        invited('raced@example.org', owner),
        clientOf(otherGateway.url, owner.headers).createInvite({
          params: { id },
          body: { email: 'raced@example.org', role: 'partner' },
        }),
      ]);
      const codes = ended.flatMap((one) => (one.status === 'rejected' ? [(one.reason as { code: string }).code] : []));
      expect(codes.filter((code) => !['NOT_FOUND', 'ALREADY_EXISTS'].includes(code))).toEqual([]);
      // Each round is an hour later, because the number of invites per address is limited.
      await rowsOf(database, "UPDATE invites SET created_at = created_at - interval '1 hour' WHERE workspace_id = $1", [
        id,
      ]);
      const params = { id, userId: guest.user.id };
      if (await isMember(guest, owner)) await owner.client.removeMember({ params });
    }
  });
});

describe('the number of invites', () => {
  const invite = (email: string, { workspace, headers }: Person) =>
    clientOf(otherGateway.url, headers)
      .createInvite({ params: { id: workspace.id }, body: { email, role: 'member' } })
      .then(() => 'sent')
      .catch((error: { code: string }) => error.code);

  it('is limited to five an hour per address and workspace, in any state', async () => {
    const owner = await signedIn('often@example.org');
    const attempts = await Promise.all(Array.from({ length: 10 }, () => invite('flooded@example.org', owner)));
    const counted = ['sent', 'RATE_LIMITED'].map((end) => attempts.filter((one) => one === end).length);
    expect(counted).toEqual([5, 5]);
    expect(await invite('another@example.org', owner)).toBe('sent');
    expect(await invite('flooded@example.org', eve)).toBe('sent');
  });

  it('is limited to 200 an hour in all, including revoked ones', async () => {
    const owner = await signedIn('many@example.org');
    await rowsOf(
      database,
      `INSERT INTO invites (id, workspace_id, email, role, token_hash, invited_by, created_at, expires_at, ended_at)
       SELECT 'inv_' || lpad(n::text, 26, '0'), $1, 'n' || n || '@example.org', 'member', 'hash ' || n, $2, now(), now(), now()
         FROM generate_series(1, 199) n`,
      [owner.workspace.id, owner.user.id],
    );
    expect(await invite('last@example.org', owner)).toBe('sent');
    expect(await invite('one-more@example.org', owner)).toBe('RATE_LIMITED');
  });
});
