import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ScimUserId, UserId, type ScimUserId as Id } from '@countersign/contracts';
import { personAccessEnded, personProvisioned } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import type { TestDatabase } from '@countersign/database/testing';
import { recordEventsIn } from '@countersign/messaging';
import { reaching } from '@countersign/testkit/until';
import { ulid } from 'ulid';
import type { StartedGateway } from '../src/index.ts';
import { receivePerson } from '../src/provisioning/receive-person.ts';
import { roleWithGroups } from '../src/provisioning/role-with-groups.ts';
import { settlePerson } from '../src/provisioning/settle-person.ts';
import { putEntitlement, putOrgWorkspace } from '../src/store/entitlements.ts';
import { listDuePeople, markPeopleDue, type PersonState } from '../src/store/provisioned-people.ts';
import {
  clientOf,
  putMember,
  rowsOf,
  serviceKey,
  signInAs,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let admin: Person;
let orgId: OrgId;
let scimUserId: Id;
let address: string;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  gateway = await startTestGateway(
    testConfig(database, {
      GOV_GOVERNANCE_URL: kernel.url,
      GOV_CONTROL_PLANE_URL: 'http://127.0.0.1:9',
      GOV_RUN_WORKERS: '0',
    }),
  );
});

beforeEach(async () => {
  kernel.changeVerdict = 'ALLOW';
  kernel.fault = 'none';
  admin = await signInAs(gateway.url, `admin-${ulid().toLowerCase()}@corp.example`);
  orgId = OrgId.parse(`org_${ulid()}`);
  scimUserId = ScimUserId.parse(`scu_${ulid()}`);
  address = `ada-${ulid().toLowerCase()}@corp.example`;
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

let sequence = 0;
const stateOf = (change: Partial<PersonState> = {}): PersonState => ({
  ...{ org_id: orgId, scim_user_id: scimUserId, sequence: (sequence += 1), access_epoch: 0, address },
  ...{ display_name: 'Ada', is_active: true, role: 'member', workspace_ids: [admin.workspace.id] },
  ...{ granted_by: admin.user.id, ...change },
});
const ended = { is_active: false, role: null, access_epoch: 1 };

/** Runs the work of the listener and the settler in sequence. */
async function provision(change: Partial<PersonState> = {}): Promise<void> {
  const { context } = gateway;
  const state = stateOf(change);
  await context.transaction((tx) => receivePerson(tx, context, state));
  await settle();
}

async function settle(): Promise<void> {
  const { context } = gateway;
  const later = new Date(Date.now() + 60_000);
  const due = await listDuePeople(context.database.reader, later, 1_000);
  for (const person of due.filter((one) => one.orgId === orgId)) await settlePerson(context, person);
}

const userId = async () =>
  UserId.parse((await rowsOf<{ id: string }>(database, 'SELECT id FROM users WHERE email = $1', [address]))[0]?.id);
const roleOf = async (id: string) =>
  (await admin.client.getWorkspace({ params: { id: admin.workspace.id } })).body.members.find(
    (one) => one.userId === id,
  )?.role;
const roleNow = async () => roleOf(await userId());

describe('a provisioned person', () => {
  it('is one account with one id, before and after they sign in', async () => {
    await provision();
    const id = await userId();
    const person = await signInAs(gateway.url, address);
    expect(person.user).toMatchObject({ id, name: 'Ada' });
    expect([person.workspace.id, await roleOf(id)]).toEqual([admin.workspace.id, 'member']);
  });

  it('with an existing account keeps its id, its workspaces and its roles there', async () => {
    const existing = await signInAs(gateway.url, address);
    await provision();
    expect(await userId()).toBe(existing.user.id);
    await provision(ended);
    const again = await signInAs(gateway.url, address);
    expect([again.user.id, again.workspace.id]).toEqual([existing.user.id, existing.workspace.id]);
  });

  it('gets the new name and address from the provider', async () => {
    await provision();
    const id = await userId();
    address = `grace-${ulid().toLowerCase()}@corp.example`;
    await provision({ display_name: 'Grace' });
    expect(await userId()).toBe(id);
    expect((await signInAs(gateway.url, address)).user).toMatchObject({ id, name: 'Grace' });
  });

  it('keeps the address when the new one belongs to another account', async () => {
    await provision();
    const id = await userId();
    const second = await signInAs(gateway.url, `other-${ulid().toLowerCase()}@corp.example`);
    await provision({ address: String(second.user.email) });
    expect([await userId(), await roleOf(second.user.id)]).toEqual([id, undefined]);
  });

  it('has the latest state, whatever the order of the events', async () => {
    const [early, late] = [stateOf(), stateOf(ended)];
    const { context } = gateway;
    for (const state of [late, early, late]) await context.transaction((tx) => receivePerson(tx, context, state));
    await settle();
    expect(await rowsOf(database, 'SELECT FROM users WHERE email = $1', [address])).toEqual([]);
  });
});

describe('the end of access', () => {
  it('ends sessions, keys, memberships, invites and unused approvals, and arrives as an event', async () => {
    await provision({ role: 'partner' });
    const person = await signInAs(gateway.url, address);
    const { id } = admin.workspace;
    const key = (
      await person.client.createApiKey({ body: { name: 'k', role: 'member', scopes: ['agent'], expiresInDays: 1 } })
    ).body.key;
    await admin.client.createInvite({ params: { id }, body: { email: `x-${address}`, role: 'member' } });
    const { context } = gateway;
    const event = context.newEvent(personProvisioned, stateOf(ended));
    await context.transaction((tx) => recordEventsIn(tx, [event]));
    await reaching(roleNow, (role) => role === undefined);
    await expect(person.client.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    const byKey = clientOf(gateway.url, { 'x-api-key': key, 'x-workspace-id': id });
    await expect(byKey.listTasks()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    const endings = async () => kernel.settings.endings.filter(({ person: ended }) => ended === person.user.id);
    await reaching(endings, (seen) => seen.length > 0);
    expect(await endings()).toContainEqual({ path: `/internal/approvals/${id}/end`, person: person.user.id });
    const events = `SELECT FROM outbox WHERE type = 'user.access-ended.v1' AND envelope LIKE '%' || $1 || '%'`;
    expect(await rowsOf(database, events, [person.user.id])).toHaveLength(1);
  });

  it('is not delayed by other states, which have another queue', async () => {
    await provision();
    const person = await signInAs(gateway.url, address);
    await rowsOf(
      database,
      `CREATE FUNCTION refuse_stuck() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'stuck'; END $$;
      CREATE TRIGGER refuse_stuck BEFORE INSERT ON provisioned_people FOR EACH ROW
        WHEN (NEW.display_name = 'Stuck') EXECUTE FUNCTION refuse_stuck()`,
    );
    const { context } = gateway;
    // A failing message occupies one of the ten places of its queue until its next delivery.
    const stuck = Array.from({ length: 20 }, (_, nth) => ({
      scim_user_id: ScimUserId.parse(`scu_${ulid()}`),
      ...{ address: `stuck${nth}-${address}`, display_name: 'Stuck' },
    }));
    const end = stateOf(ended);
    const events = [
      ...stuck.map((state) => context.newEvent(personProvisioned, stateOf(state))),
      context.newEvent(personProvisioned, end),
      context.newEvent(personAccessEnded, end),
    ];
    await context.transaction((tx) => recordEventsIn(tx, events));
    await reaching(
      () => roleOf(person.user.id),
      (role) => role === undefined,
    );
    await expect(person.client.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    await rowsOf(database, 'DROP TRIGGER refuse_stuck ON provisioned_people');
  });

  it('is repeated at the kernel until it answers', async () => {
    await provision();
    kernel.fault = 'error_500';
    await provision(ended);
    kernel.fault = 'none';
    const id = await userId();
    const isEnded = async () => kernel.settings.endings.some(({ person }) => person === id);
    expect(await isEnded()).toBe(false);
    await settle();
    expect(await isEnded()).toBe(true);
  });

  it('comes before the roles of people who waited longer', async () => {
    await provision();
    kernel.fault = 'error_500';
    await provision(ended);
    kernel.fault = 'none';
    const last = scimUserId;
    const { context } = gateway;
    const long = new Date(Date.now() - 3_600_000);
    for (let nth = 0; nth < 3; nth += 1) {
      const one = { scim_user_id: ScimUserId.parse(`scu_${ulid()}`), address: `w${nth}-${address}` };
      await context.transaction((tx) => receivePerson(tx, context, stateOf(one)));
      const statement = 'UPDATE provisioned_people SET due_at = $1 WHERE scim_user_id = $2';
      await rowsOf(database, statement, [long, one.scim_user_id]);
    }
    const due = await listDuePeople(context.database.reader, new Date(Date.now() + 60_000), 2);
    expect(due.map(({ scimUserId: id }) => id)).toContain(last);
  });

  it('does not remove the last owner of a workspace, but ends their sessions', async () => {
    address = String(admin.user.email);
    await provision({ role: null });
    const sibling = clientOf(gateway.url, { authorization: `Bearer ${serviceKey}` });
    const body = { org_id: orgId, scim_user_id: scimUserId, workspace_ids: [admin.workspace.id] };
    expect((await sibling.findSoleOwner({ body })).body).toEqual({ sole_owner: true });
    await provision(ended);
    await expect(admin.client.getMe()).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    admin = await signInAs(gateway.url, address);
    expect(await roleOf(admin.user.id)).toBe('owner');
  });

  it('of one SCIM user keeps the role of a person who is active as another SCIM user', async () => {
    await provision();
    const first = scimUserId;
    scimUserId = ScimUserId.parse(`scu_${ulid()}`);
    await provision();
    await provision({ ...ended, scim_user_id: first });
    expect(await roleNow()).toBe('member');
  });

  it('affects only the workspaces of the organisation', async () => {
    const second = await signInAs(gateway.url, `other-${ulid().toLowerCase()}@elsewhere.example`);
    await provision();
    await putMember(database, { workspaceId: second.workspace.id, userId: await userId(), role: 'partner' });
    await provision(ended);
    const { members } = (await second.client.getWorkspace({ params: { id: second.workspace.id } })).body;
    expect(members.map(({ role }) => role).sort()).toEqual(['owner', 'partner']);
  });
});

it('a provisioned person gets no membership above the limit of the plan, and gets it when the limit is raised', async () => {
  const { context } = gateway;
  const limit = (members: number, day: number) => {
    const none = { tool_calls: null, concurrent_runs: null, workspaces: null, connectors: null };
    const limits = { ...none, shadow_lanes: null, retention_days: null, members };
    const event = { time: `2026-11-0${day}T00:00:00.000Z`, data: { org_id: orgId, limits } };
    return context.transaction((tx) => putEntitlement(tx, event as never)); // the members that the store reads
  };
  const added = { workspace_id: admin.workspace.id, org_id: orgId, added_at: '2026-11-01T00:00:00.000Z' };
  await context.transaction((tx) => putOrgWorkspace(tx, added as never)); // typed like a listed workspace
  await limit(1, 1);
  await provision();
  expect(await roleNow()).toBeUndefined();
  expect(await limit(1, 2)).toBe(false);
  expect(await limit(2, 3)).toBe(true);
  await context.transaction((tx) => markPeopleDue(tx, orgId, context.now()));
  await settle();
  expect(await roleNow()).toBe('member');
});

describe('groups', () => {
  it('give a role and remove it, and lower none that they did not give', async () => {
    await provision({ role: 'partner' });
    expect(await roleNow()).toBe('partner');
    await provision({ role: 'member' });
    expect(await roleNow()).toBe('member');
    await provision({ role: null });
    expect(await roleNow()).toBeUndefined();
    await putMember(database, { workspaceId: admin.workspace.id, userId: await userId(), role: 'partner' });
    await provision({ role: 'owner' });
    expect(await roleNow()).toBe('owner');
    await provision({ role: 'member' });
    expect(await roleNow()).toBe('partner');
    expect(roleWithGroups('owner', 'member')).toBe('owner');
  });

  it.each(['DENY', 'ESCALATE'] as const)(
    'give no deciding role while the verdict of the policy is %s',
    async (verdict) => {
      kernel.changeVerdict = verdict;
      await provision({ role: 'partner' });
      expect(await roleNow()).toBe('member');
      const change = kernel.changes.at(-1);
      expect(change).toMatchObject({
        principal: admin.user.id,
        body: { action: 'policy.change', resource: `members/${await userId()}?role=partner` },
      });
      kernel.changeVerdict = 'ALLOW';
      await provision({ role: 'partner' });
      expect(await roleNow()).toBe('partner');
    },
  );

  it('create no decider for an administrator who owns no workspace, or while the kernel is unavailable', async () => {
    const stranger = await signInAs(gateway.url, `stranger-${ulid().toLowerCase()}@corp.example`);
    await provision({ role: 'owner', granted_by: stranger.user.id });
    expect(await roleNow()).toBe('member');
    kernel.fault = 'error_500';
    await provision({ role: 'owner' });
    expect(await roleNow()).toBe('member');
    kernel.fault = 'none';
    await settle();
    expect(await roleNow()).toBe('owner');
  });
});
