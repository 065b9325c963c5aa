import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { putMember, rowsOf, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let owner: Person;
let colleague: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const config = testConfig(database, {
    GOV_GOVERNANCE_URL: kernel.url,
    GOV_GOVERNANCE_TIMEOUT: '4s',
    GOV_RUN_WORKERS: '0',
  });
  gateway = await startTestGateway(config);
});

beforeEach(async () => {
  kernel.changeVerdict = 'ALLOW';
  kernel.denialReason = 'POLICY_DENIED';
  kernel.fault = 'none';
  kernel.changes.length = 0;
  owner = await signInAs(gateway.url, `ada-${crypto.randomUUID()}@example.org`);
  colleague = await signInAs(gateway.url, `bob-${crypto.randomUUID()}@example.org`);
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

const email = 'second-mailbox@example.org';
const invite = (role: 'partner' | 'member') =>
  owner.client.createInvite({ params: { id: owner.workspace.id }, body: { email, role } });
const place = () => ({ workspaceId: owner.workspace.id, userId: colleague.user.id });
const raise = (role: 'owner' | 'partner' | 'member') =>
  owner.client.putMemberRole({ params: { id: owner.workspace.id, userId: colleague.user.id }, body: { role } });
const invites = () => rowsOf(database, 'SELECT role FROM invites WHERE workspace_id = $1', [owner.workspace.id]);
const roleNow = async () => {
  const { workspaceId, userId } = place();
  const where = 'SELECT role FROM workspace_members WHERE workspace_id = $1 AND user_id = $2';
  return (await rowsOf<{ role: string }>(database, where, [workspaceId, userId]))[0]?.role;
};

describe('a new owner or partner', () => {
  it('requires a decision of the kernel, as a change of the policy by the owner', async () => {
    await invite('partner');
    await putMember(database, { ...place(), role: 'member' });
    await raise('partner');
    const change = { action: 'policy.change', effect_level: 'E3', session_id: 'console:members' };
    expect(kernel.changes).toMatchObject([
      {
        principal: owner.user.id,
        body: { ...change, resource: 'members/invite?role=partner', args: { email, role: 'partner' } },
      },
      { principal: owner.user.id, body: { ...change, resource: `members/${colleague.user.id}?role=partner` } },
    ]);
    expect([await invites(), await roleNow()]).toEqual([[{ role: 'partner' }], 'partner']);
  });

  it.each([
    ['ESCALATE', 'APPROVAL_NEEDED'],
    ['DENY', 'POLICY_DENIED'],
  ] as const)('is not created when the verdict of the kernel is %s', async (verdict, code) => {
    kernel.changeVerdict = verdict;
    await putMember(database, { ...place(), role: 'partner' });
    await expect(invite('partner')).rejects.toMatchObject({ code, details: { decision_id: expect.any(String) } });
    await expect(raise('owner')).rejects.toMatchObject({ code });
    expect([await invites(), await roleNow()]).toEqual([[], 'partner']);
  });

  it('is not created while the kernel does not answer', async () => {
    kernel.fault = 'error_500';
    await putMember(database, { ...place(), role: 'member' });
    await expect(invite('partner')).rejects.toMatchObject({ code: 'GOVERNANCE_UNAVAILABLE' });
    await expect(raise('partner')).rejects.toMatchObject({ code: 'GOVERNANCE_UNAVAILABLE' });
    expect([await invites(), await roleNow()]).toEqual([[], 'member']);
  });

  it('may join a workspace without a policy, in which nothing runs', async () => {
    kernel.changeVerdict = 'DENY';
    kernel.denialReason = 'POLICY_MISSING';
    await invite('partner');
    expect(await invites()).toEqual([{ role: 'partner' }]);
  });
});

it('the removal of a member reaches the kernel before it is answered, and succeeds even if the kernel is unavailable', async () => {
  await putMember(database, { ...place(), role: 'partner' });
  const last = () => kernel.settings.memberLists.at(-1)?.['members'];
  await raise('member');
  expect(last()).toEqual([
    { user_id: owner.user.id, role: 'owner' },
    { user_id: colleague.user.id, role: 'member' },
  ]);
  await owner.client.removeMember({ params: { id: owner.workspace.id, userId: colleague.user.id } });
  expect(last()).toEqual([{ user_id: owner.user.id, role: 'owner' }]);
  await putMember(database, { ...place(), role: 'partner' });
  kernel.fault = 'error_500';
  await owner.client.removeMember({ params: { id: owner.workspace.id, userId: colleague.user.id } });
  expect(await roleNow()).toBeUndefined();
});

it('an owner needs no decision of the kernel for a role without more rights to decide, also while the kernel is unavailable', async () => {
  kernel.fault = 'error_500';
  await putMember(database, { ...place(), role: 'owner' });
  await invite('member');
  await raise('partner');
  await raise('partner');
  await raise('member');
  expect([await invites(), await roleNow(), kernel.changes]).toEqual([[{ role: 'member' }], 'member', []]);
  await owner.client.removeMember({ params: { id: owner.workspace.id, userId: colleague.user.id } });
  expect(await roleNow()).toBeUndefined();
});
