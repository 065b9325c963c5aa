import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fence } from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { createBoundary } from '../src/decision/boundary.ts';
import { KnownOrgs } from '../src/controls/fences/known-orgs.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: orgs
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call, agent.spawn] } }
`;

let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', policy);
  second = await startKernel(kernelConfigFrom(test.env));
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let names = 0;
const newName = (kind: string) => `${kind}-${(names += 1)}`;
const read = { tool: 'files.read', effect_level: 'E1' };
const place = async (tenant: string, org_id: string | null, version = 1) =>
  (await test.system.putTenant({ params: { tenant }, body: { version, org_id } })).body;

async function decidedOn(kernel: Pick<StartedKernel, 'url'>, tenant: string, call: object = read): Promise<string> {
  const client = createKernelClient({ baseUrl: kernel.url, apiKey: adminKey }).as({ tenant });
  const body = { action: 'tool.call', session_id: newSession(), ...call } as never; // plain strings instead of branded ones
  return answerOf((await client.evaluate({ body })).body);
}
const everywhere = async (tenant: string) =>
  await Promise.all([decidedOn(test.kernel, tenant), decidedOn(second, tenant)]);
const allowed = ['ALLOW ALLOWED', 'ALLOW ALLOWED'];
const frozen = ['DENY SYSTEM_FROZEN', 'DENY SYSTEM_FROZEN'];

describe('a fence around an organisation', () => {
  it('stops all its tenants on every kernel, and no other tenant', async () => {
    const org = newName('org');
    const [one, two, neighbour] = [newName('tenant'), newName('tenant'), newName('tenant')];
    for (const tenant of [one, two]) await place(tenant, org);
    await place(neighbour, newName('org'));
    for (const tenant of [one, two, neighbour]) expect(await everywhere(tenant)).toEqual(allowed);
    await test.setFence(`org:${org}`, 'freeze');
    expect(await everywhere(one)).toEqual(frozen);
    expect(await everywhere(two)).toEqual(frozen);
    expect(await everywhere(neighbour)).toEqual(allowed);
    expect(await everywhere(newName('tenant'))).toEqual(allowed);
    await test.setFence(`org:${org}`, 'quarantine');
    expect(await decidedOn(second, one)).toBe('DENY TENANT_QUARANTINED');
    await test.setFence(`org:${org}`, 'open');
    expect(await everywhere(one)).toEqual(allowed);
  });

  it('stops a tenant as soon as it has joined the organisation, until it leaves', async () => {
    const [org, open, tenant] = [newName('org'), newName('org'), newName('tenant')];
    await test.setFence(`org:${org}`, 'freeze');
    await place(tenant, open);
    expect(await everywhere(tenant)).toEqual(allowed);
    await place(tenant, org, 2);
    expect(await everywhere(tenant)).toEqual(frozen);
    await place(tenant, open, 3);
    expect(await everywhere(tenant)).toEqual(allowed);
    await place(tenant, org, 4);
    expect(await everywhere(tenant)).toEqual(frozen);
    await place(tenant, null, 5);
    expect(await everywhere(tenant)).toEqual(allowed);
  });

  it('stops every call that is decided after a tenant joined, even among simultaneous calls', async () => {
    const [org, tenant] = [newName('org'), newName('tenant')];
    await test.setFence(`org:${org}`, 'freeze');
    const kernels = [test.kernel, second];
    const before = kernels.flatMap((kernel) => Array.from({ length: 10 }, () => decidedOn(kernel, tenant)));
    const joined = place(tenant, org);
    const during = kernels.flatMap((kernel) => Array.from({ length: 10 }, () => decidedOn(kernel, tenant)));
    await joined;
    expect(await everywhere(tenant)).toEqual(frozen);
    await Promise.all([...before, ...during]);
    const { rows } = await test.pool.query<{ verdict: string; action: string }>(
      `SELECT verdict, action FROM ledger WHERE tenant_id = $1 ORDER BY log_index`,
      [tenant],
    );
    const placed = rows.findIndex(({ action }) => action === 'tenant.place');
    expect(rows.slice(placed + 1).filter(({ verdict }) => verdict !== 'DENY')).toEqual([]);
    expect(rows.slice(0, placed).filter(({ verdict }) => verdict !== 'ALLOW')).toEqual([]);
    expect(rows).toHaveLength(43);
  });

  it('allows exactly the limit of a throttle, across its tenants and two kernels', async () => {
    const org = newName('org');
    const tenants = [newName('tenant'), newName('tenant')];
    for (const tenant of tenants) await place(tenant, org);
    await test.setFence(`org:${org}`, 'throttle', 10);
    const calls = [test.kernel, second].flatMap((kernel) =>
      Array.from({ length: 25 }, (_, index) => decidedOn(kernel, tenants[index % 2] ?? '')),
    );
    const verdicts = await Promise.all(calls);
    expect(verdicts.filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(10);
    expect(verdicts.filter((verdict) => verdict === 'DENY THROTTLED')).toHaveLength(40);
  });

  it('that is a throttle does not show a tenant how many calls are left', async () => {
    const [org, tenant] = [newName('org'), newName('tenant')];
    const session_id = newSession();
    await place(tenant, org);
    await test.setFence(`org:${org}`, 'throttle', 10);
    await new Caller(test, tenant).decide({ ...read, session_id });
    const [decision] = await ledgerOf(test, session_id);
    expect(decision?.record?.fences).toMatchObject([{ scope: `org:${org}`, calls_remaining: null }]);
  });

  it('stops a call that was allowed but not yet sent', async () => {
    const [org, tenant] = [newName('org'), newName('tenant')];
    await place(tenant, org);
    let nowMs = 0;
    const { cycle } = test.kernel.context;
    const boundary = createBoundary({ ...cycle, settings: { ...cycle.settings, monotonicMs: () => nowMs } });
    const call = spawnedAgent({ tenant, session: newSession() });
    const decision = await decideAndDie(boundary, call);
    nowMs += 500;
    expect(await boundary.maySendLate(decision, call.caller)).toBe(true);
    await test.setFence(`org:${org}`, 'freeze');
    expect(await boundary.maySendLate(decision, call.caller)).toBe(false);
  });

  it('lists the calls that its tenants sent before', async () => {
    const [org, tenant, stranger] = [newName('org'), newName('tenant'), newName('tenant')];
    await place(tenant, org);
    for (const sender of [tenant, stranger])
      await decideAndDie(test.kernel.context.boundary, spawnedAgent({ tenant: sender, session: newSession() }));
    await test.setFence(`org:${org}`, 'freeze');
    const { body } = await test.system.getFence({ params: { scope: `org:${org}` as Fence['scope'] } });
    expect(body.in_flight.map(({ tenant_id }) => tenant_id)).toEqual([tenant]);
    expect(body.more_in_flight).toBe(false);
  });
});

describe('the organisation of a tenant', () => {
  it('is sealed, accepts only rising versions, and accepts the current version again', async () => {
    const [tenant, org, later] = [newName('tenant'), newName('org'), newName('org')];
    expect(await place(tenant, org, 3)).toMatchObject({ tenant_id: tenant, org_id: org, version: 3 });
    expect(await place(tenant, org, 3)).toMatchObject({ version: 3 });
    expect(await refusal(place(tenant, later, 3))).toBe('ILLEGAL_TRANSITION');
    expect(await refusal(place(tenant, null, 2))).toBe('ILLEGAL_TRANSITION');
    expect(await place(tenant, later, 4)).toMatchObject({ org_id: later });
    const sealed = (await ledgerOf(test, 'fences')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload, record }) => [payload.action, record?.intent.facts])).toEqual([
      ['tenant.place', { version: 3, org_id: org }],
      ['tenant.place', { version: 4, org_id: later }],
    ]);
  });

  it.each(['', 'a b', 'a/b', 'x'.repeat(129)])(
    'is refused under a name that is not valid in a fence: %j',
    async (org) => {
      expect(await refusal(place(newName('tenant'), org))).toBe('INVALID_REQUEST');
    },
  );

  it('can be set only by services', async () => {
    const tenant = newName('tenant');
    const body = { version: 1, org_id: 'own' } as never; // plain strings instead of branded ones
    expect(await refusal(test.as(tenant).putTenant({ params: { tenant }, body }))).toBe('CREDENTIALS_INVALID');
  });

  it('makes a call fail without a decision when it cannot be determined', async () => {
    const [tenant, org] = [newName('tenant'), newName('org')];
    await place(tenant, org);
    const { cycle } = test.kernel.context;
    class Forgetful extends KnownOrgs {
      override learn(): void {
        // forgets everything
      }
    }
    const boundary = createBoundary({ ...cycle, orgs: new Forgetful() });
    expect(await refusal(decideAndDie(boundary, spawnedAgent({ tenant, session: newSession() })))).toBe(
      'RECEIPT_STORE_UNAVAILABLE',
    );
  });

  it('is forgotten by a kernel that knows too many tenants', () => {
    const orgs = new KnownOrgs();
    for (let index = 0; index < 100_001; index += 1) orgs.learn(`t-${index}` as never, 'o' as never);
    expect([orgs.of('t-0' as never), orgs.of('t-100000' as never)]).toEqual([null, 'o']);
  });
});
