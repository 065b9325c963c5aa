import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { putEntitlement, putOrgWorkspace } from '../src/store/entitlements.ts';
import { signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

const orgId = `org_${'1'.repeat(26)}`;

let database: TestDatabase;
let gateway: StartedGateway;
let owner: Person;

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0', GOV_SIGN_UP: '@example.org' }));
  owner = await signInAs(gateway.url, 'owner@example.org');
});
afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

/** Stores the limit of members as an event of this time would. */
async function limitMembers(members: number | null, time: string): Promise<void> {
  const none = { tool_calls: null, concurrent_runs: null, workspaces: null, connectors: null };
  const limits = { ...none, shadow_lanes: null, retention_days: null, members };
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

it('refuses the member beyond the limit and not the one before it, also in a race, and an older event changes nothing', async () => {
  const added = { workspace_id: owner.workspace.id, org_id: orgId, added_at: '2026-11-01T00:00:00.000Z' };
  await gateway.context.transaction((tx) => putOrgWorkspace(tx, added as never)); // of the types of a listed workspace
  await limitMembers(2, '2026-11-02T00:00:00.000Z');
  await limitMembers(100, '2026-11-01T00:00:00.000Z');
  const people = [await invited('one'), await invited('two'), await invited('three')];
  const join = ({ person, params }: (typeof people)[number]) => person.client.joinByInvite({ params });
  const joined = await Promise.allSettled(people.map(join));
  const refusal = { code: 'LIMIT_REACHED', details: { name: 'members', limit: 2, used: 2 } };
  const refused = joined.filter(({ status }) => status === 'rejected');
  expect(refused).toHaveLength(2);
  for (const one of refused) expect(one).toMatchObject({ reason: refusal });
  // An invite that was refused stays, and works once there is room.
  await limitMembers(null, '2026-11-03T00:00:00.000Z');
  for (const [nth, one] of people.entries())
    if (joined[nth]?.status === 'rejected') expect((await join(one)).body.role).toBe('member');
});
