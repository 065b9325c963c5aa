import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@countersign/testkit/until';
import type { NotificationType } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import type { StartedGateway } from '../src/index.ts';
import {
  clientOf,
  putMember,
  rowsOf,
  signInAs,
  startTestGateway,
  testConfig,
  testDatabase,
  type GatewayClient,
  type Person,
} from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let otherGateway: StartedGateway;

beforeAll(async () => {
  database = await testDatabase();
  const config = testConfig(database, { GOV_RUN_WORKERS: '0', GOV_WEBHOOKS_REACH_PRIVATE: '1' });
  gateway = await startTestGateway(config);
  otherGateway = await startTestGateway(config);
});

afterAll(async () => {
  await gateway?.stop();
  await otherGateway?.stop();
  await database?.drop();
});

type Owners = { id: string; staying: Person; leaving: Person; asLeaving: GatewayClient; member: Person };
let nth = 0;
/**
 * Each replica has a connection for each of these removals. Otherwise a removal could wait too long for one on a slow
 * machine.
 */
const removalsAtOnce = 5;

/** Creates a workspace with two owners and a member. One of the owners will leave. */
async function twoOwners(): Promise<Owners> {
  nth += 1;
  const [staying, leaving, member] = await Promise.all(
    ['staying', 'leaving', 'member'].map((name) => signInAs(gateway.url, `${name}${nth}@example.org`)),
  );
  if (staying === undefined || leaving === undefined || member === undefined)
    throw new Error('The account does not exist');
  const { id } = staying.workspace;
  await putMember(database, { workspaceId: id, userId: leaving.user.id, role: 'owner' });
  await putMember(database, { workspaceId: id, userId: member.user.id, role: 'member' });
  const asLeaving = clientOf(otherGateway.url, { ...leaving.headers, 'x-workspace-id': id });
  return { id, staying, leaving, asLeaving, member };
}

const hook: { channel: 'webhook'; target: string; eventTypes: NotificationType[] } = {
  channel: 'webhook',
  target: 'http://127.0.0.1:9/hook',
  eventTypes: ['run.ended'],
};

/** The ways in which an owner can go: removal, another role, and leaving. */
const ways: [string, (owners: Owners) => Promise<unknown>][] = [
  [
    'is removed',
    ({ id, staying, leaving }) => staying.client.removeMember({ params: { id, userId: leaving.user.id } }),
  ],
  [
    'is made a partner',
    ({ id, staying, leaving }) =>
      staying.client.putMemberRole({ params: { id, userId: leaving.user.id }, body: { role: 'partner' } }),
  ],
  ['leaves', ({ id, asLeaving }) => asLeaving.leaveWorkspace({ params: { id } })],
];

describe('an owner', () => {
  it.each(ways)('who %s loses the invites and the webhooks that they created', async (_way, go) => {
    const owners = await twoOwners();
    const { id, staying, asLeaving } = owners;
    const params = { id };
    const email = `back${nth}@example.org`;
    const { body: invite } = await asLeaving.createInvite({ params, body: { email, role: 'partner' } });
    const { body: kept } = await staying.client.createInvite({
      params,
      body: { email: `kept${nth}@example.org`, role: 'member' },
    });
    const { body: listening } = await asLeaving.createSubscription({ params, body: hook });
    const { body: own } = await staying.client.createSubscription({
      params,
      body: { ...hook, target: `${hook.target}/own`, eventTypes: ['subscription.disabled'] },
    });
    await go(owners);
    const back = await signInAs(gateway.url, email);
    const accepted = (token: string, headers = {}, address = email) =>
      clientOf(gateway.url, headers).acceptInvite({ params: { token }, body: { email: address } });
    await expect(accepted(invite.inviteToken, back.headers)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(accepted(invite.inviteToken)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect((await accepted(kept.inviteToken, {}, `kept${nth}@example.org`)).body.accepted).toBe(true);

    const { data } = (await staying.client.listSubscriptions({ params })).body;
    expect(data.map(({ state, disabledReason }) => [state, disabledReason])).toEqual([
      ['disabled', expect.stringContaining('no longer an owner')],
      [expect.not.stringContaining('disabled'), null],
    ]);
    const answer = await staying.client.listNotifications({ params: { id, subscriptionId: own.id } });
    expect(answer.body.data).toMatchObject([{ type: 'subscription.disabled' }]);
    const [entry] = (await staying.client.listAudit()).body.data;
    expect(entry?.details).toMatchObject({ invitesEnded: 1, webhooksSilenced: 1 });

    const { body: again } = await staying.client.createSubscription({ params, body: hook });
    expect(again).toMatchObject({ id: listening.id, state: 'active', createdBy: staying.user.id });
    expect([typeof again.secret, again.secret === listening.secret]).toEqual(['string', false]);
  });

  it('keeps invites and webhooks with an unchanged role, and when another owner leaves', async () => {
    const { id, staying, asLeaving, member } = await twoOwners();
    const params = { id };
    await asLeaving.createInvite({ params, body: { email: `kept${nth}@example.org`, role: 'partner' } });
    await asLeaving.createSubscription({ params, body: hook });
    await staying.client.removeMember({ params: { id, userId: member.user.id } });
    expect((await asLeaving.listInvites({ params })).body.data).toHaveLength(1);
    expect((await asLeaving.listSubscriptions({ params })).body.data).toMatchObject([{ state: 'active' }]);
  });

  const acts: [string, (owners: Owners, subscriptionId: string) => Promise<unknown>][] = [
    [
      'make a person an owner',
      ({ id, asLeaving, member }) =>
        asLeaving.putMemberRole({ params: { id, userId: member.user.id }, body: { role: 'owner' } }),
    ],
    [
      'remove a member',
      ({ id, asLeaving, member }) => asLeaving.removeMember({ params: { id, userId: member.user.id } }),
    ],
    ['leave', ({ id, asLeaving }) => asLeaving.leaveWorkspace({ params: { id } })],
    [
      'invite',
      ({ id, asLeaving }) =>
        asLeaving.createInvite({ params: { id }, body: { email: 'x@example.org', role: 'partner' } }),
    ],
    ['revoke an invite', ({ id, asLeaving }) => asLeaving.revokeInvite({ params: { id, inviteId: 'inv' } })],
    [
      'make a key',
      ({ asLeaving }) =>
        asLeaving.createApiKey({ body: { name: 'key', role: 'partner', scopes: ['read'], expiresInDays: 1 } }),
    ],
    [
      'change settings',
      ({ id, asLeaving }) => asLeaving.putWorkspaceSettings({ params: { id }, body: { modelConfig: {} as never } }),
    ],
    ['change the mode', ({ id, asLeaving }) => asLeaving.putWorkspaceMode({ params: { id }, body: { mode: 'apply' } })],
    ['subscribe', ({ id, asLeaving }) => asLeaving.createSubscription({ params: { id }, body: hook })],
    [
      'rotate a secret',
      ({ id, asLeaving }, subscriptionId) => asLeaving.rotateWebhookSecret({ params: { id, subscriptionId } }),
    ],
    [
      'end a subscription',
      ({ id, asLeaving }, subscriptionId) => asLeaving.endSubscription({ params: { id, subscriptionId } }),
    ],
    [
      'send a notification again',
      ({ id, asLeaving }, subscriptionId) =>
        asLeaving.redriveNotification({ params: { id, subscriptionId, notificationId: 'ntf' } }),
    ],
  ];

  const contentOf = ({ id, leaving }: Owners) =>
    rowsOf(
      database,
      `SELECT (SELECT json_agg(m ORDER BY user_id) FROM workspace_members m WHERE workspace_id = $1 AND user_id <> $2) AS members,
              (SELECT json_agg(i.id) FROM invites i WHERE workspace_id = $1) AS invites,
              (SELECT json_agg(k.id) FROM api_keys k WHERE workspace_id = $1) AS keys,
              (SELECT json_agg(s) FROM workspace_settings s WHERE workspace_id = $1) AS settings,
              (SELECT mode FROM workspaces WHERE id = $1) AS mode,
              (SELECT json_agg(s ORDER BY id) FROM subscriptions s WHERE owner = $1) AS subscriptions`,
      [id, leaving.user.id],
    );

  it.each(acts)('cannot %s with a request that waited while the membership ended', async (_what, act) => {
    const owners = await twoOwners();
    const { id, staying, leaving } = owners;
    const { body: own } = await staying.client.createSubscription({ params: { id }, body: hook });
    const before = await contentOf(owners);
    const remove = () => staying.client.removeMember({ params: { id, userId: leaving.user.id } });
    expect(await inTurn(id, remove, () => act(owners, own.id))).toBe('NOT_FOUND');
    expect(await contentOf(owners)).toEqual(before);
  });

  it.each(acts.slice(0, 2))('cannot %s with a request that waited while the role ended', async (_what, act) => {
    const owners = await twoOwners();
    const { id, staying, leaving } = owners;
    const before = await contentOf(owners);
    const demote = () =>
      staying.client.putMemberRole({ params: { id, userId: leaving.user.id }, body: { role: 'partner' } });
    expect(await inTurn(id, demote, () => act(owners, ''))).toBe('PERMISSION_DENIED');
    expect(await contentOf(owners)).toEqual(before);
  });

  it('and another owner remove each other on two replicas at once, and one removal succeeds', async () => {
    for (let turn = 0; turn < 10; turn += 1) {
      const { id, staying, leaving, asLeaving, member } = await twoOwners();
      await putMember(database, { workspaceId: id, userId: member.user.id, role: 'owner' });
      const ended = await Promise.allSettled(
        Array.from({ length: removalsAtOnce }, () => [
          staying.client.removeMember({ params: { id, userId: leaving.user.id } }),
          asLeaving.removeMember({ params: { id, userId: staying.user.id } }),
        ]).flat(),
      );
      expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      const faults = ended.filter(
        (one) => one.status === 'rejected' && (one.reason as { status: number }).status >= 500,
      );
      expect(faults).toEqual([]);
      const remaining = await rowsOf<{ id: string }>(
        database,
        'SELECT user_id AS id FROM workspace_members WHERE workspace_id = $1',
        [id],
      );
      expect(remaining).toHaveLength(2);
      expect(remaining.map((row) => row.id)).toContain(member.user.id);
    }
  });
});

/** Makes both calls wait for the lock of the memberships, in order. Returns the result of the second call. */
async function inTurn(id: string, first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<string> {
  const holder = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=gateway' });
  await holder.connect();
  const waiting = async () => {
    const [row] = await rowsOf<{ count: number }>(
      database,
      "SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
    );
    return row?.count ?? 0;
  };
  try {
    await holder.query('BEGIN');
    await holder.query('SELECT FROM workspaces WHERE id = $1 FOR UPDATE', [id]);
    const done = first();
    await until(async () => (await waiting()) === 1);
    const ended = second().then(
      () => 'done',
      (error: { code: string }) => error.code,
    );
    await until(async () => (await waiting()) === 2);
    await holder.query('COMMIT');
    await done;
    return await ended;
  } finally {
    await holder.end();
  }
}
