import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { putEntitlement, putOrgWorkspace } from '../src/store/entitlements.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let owner: Person;
let orgId: string;
let orgs = 0;

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0', GOV_SIGN_UP: '@example.org' }));
});
beforeEach(async () => {
  orgs += 1;
  orgId = `org_${String(orgs).padStart(26, '0')}`;
  owner = await signInAs(gateway.url, `owner-${orgs}@example.org`);
  const added = { workspace_id: owner.workspace.id, org_id: orgId, added_at: '2026-11-01T00:00:00.000Z' };
  await gateway.context.transaction((tx) => putOrgWorkspace(tx, added as never)); // typed like a listed workspace
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

/** Stores limits like an event with this time. */
async function limit(some: { members?: number | null; concurrent_runs?: number | null }, time: string): Promise<void> {
  const none = { tool_calls: null, concurrent_runs: null, workspaces: null, connectors: null };
  const limits = { ...none, shadow_lanes: null, retention_days: null, members: null, ...some };
  const event = { time, data: { org_id: orgId, limits } };
  await gateway.context.transaction((tx) => putEntitlement(tx, event as never)); // the members that the store reads
}

async function invited(name: string): Promise<{ person: Person; params: { inviteId: string } }> {
  const email = `${name}@example.org`;
  const person = await signInAs(gateway.url, email);
  await owner.client.createInvite({ params: { id: owner.workspace.id }, body: { email, role: 'member' } });
  const [invite] = (await person.client.listInvitesToMe()).body.data;
  return { person, params: { inviteId: invite?.id ?? '' } };
}

it('the gateway refuses only members above the limit, also in a race, and an older event changes nothing', async () => {
  await limit({ members: 2 }, '2026-11-02T00:00:00.000Z');
  await limit({ members: 100 }, '2026-11-01T00:00:00.000Z');
  const people = [await invited('one'), await invited('two'), await invited('three')];
  const join = ({ person, params }: (typeof people)[number]) => person.client.joinByInvite({ params });
  const joined = await Promise.allSettled(people.map(join));
  const refusal = { code: 'LIMIT_REACHED', details: { name: 'members', limit: 2, used: 2 } };
  const refused = joined.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(2);
  for (const one of refused) expect(one).toMatchObject({ reason: refusal });
  // A refused invite stays valid, and works when the plan permits more members.
  await limit({ members: null }, '2026-11-03T00:00:00.000Z');
  for (const [nth, one] of people.entries())
    if (joined[nth]?.status === 'rejected') expect((await join(one)).body.role).toBe('member');
});

it('the gateway refuses a new run on each route while the organisation is suspended, and runs the task later', async () => {
  await limit({ concurrent_runs: 0 }, '2026-11-04T00:00:00.000Z');
  const { client } = owner;
  const { id } = (await client.createTask({ body: { title: 'A task', description: 'hello' } })).body;
  const refusal = { code: 'LIMIT_REACHED', details: { name: 'concurrent_runs', limit: 0 } };
  await expect(client.runTask({ params: { id } })).rejects.toMatchObject(refusal);
  await expect(client.startRun({ body: { taskId: id } })).rejects.toMatchObject(refusal);
  await expect(client.startRun({ body: { title: 'Another', description: '' } })).rejects.toMatchObject(refusal);
  const queued = { params: { id }, body: { status: 'queued' } } as const;
  await expect(client.putTaskStatus(queued)).rejects.toMatchObject(refusal);
  expect((await client.listWorkspaceRuns({})).body.data).toEqual([]);
  expect((await client.listTasks({})).body.data.map(({ title }) => title)).toEqual(['A task']);
  await limit({ concurrent_runs: 1 }, '2026-11-05T00:00:00.000Z');
  expect((await client.runTask({ params: { id } })).body.status).toBe('queued');
});
