import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PrincipalId } from '@countersign/contracts';
import { countDecisions } from '../src/store/decision-count-store.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { seal, sealMany } from './_seal.ts';

let test: TestKernel;

const named = (name: string) => name as PrincipalId; // matches the schema

beforeAll(async () => {
  test = await startTestKernel();
  for (const tenant of ['acme', 'umbrella']) await test.activate(tenant, starterPolicy);
  await sealMany(test, 6, { principal: 'clerk' });
  await sealMany(test, 3, { principal: 'clerk', tool: 'files.delete' });
  await seal(test, { principal: 'clerk', tool: 'pay.send' });
  await sealMany(test, 2, { principal: 'scout', tool: 'files.delete' });
  await seal(test, { principal: 'clerk', mode: 'shadow' });
  await seal(test, { tenant: 'umbrella', principal: 'other-clerk' });
  await countDecisions(test.kernel.context.transaction);
});
afterAll(() => test.close());

const list = async (tenant = 'acme') => (await test.as(tenant).listSeenAgents({ query: {} })).body;
const profile = async (name: string, tenant = 'acme') =>
  (await test.as(tenant).getSeenAgent({ params: { principal: named(name) }, query: {} })).body;

const stop = (kind: 'quarantine' | 'throttle' | 'open', epoch: number) =>
  test.system.putFence({
    params: { scope: 'agent:acme/scout' }, // matches the schema
    body: {
      ...{ kind, epoch, reason: 'it loops', set_by: named('olga'), expires_at: null },
      ...(kind === 'throttle' ? { call_limit: 30, window_seconds: 60 } : { call_limit: null, window_seconds: null }),
    }, // branded by the schema
  });

describe('agents of a workspace', () => {
  it('are listed with their calls by verdict, busiest first', async () => {
    await countDecisions(test.kernel.context.transaction); // other tests seal decisions too
    const { data, complete_to, has_more } = await list();
    const calls = { allowed: 6, denied: 3, needed_approval: 1 };
    expect(data.slice(0, 2)).toMatchObject([
      { principal_id: 'clerk', state: 'active', stop: null, day: calls, week: calls, pending_approvals: 1 },
      { principal_id: 'scout', day: { denied: 2 }, pending_approvals: 0 },
    ]);
    expect([complete_to, has_more]).toEqual([null, false]);
    expect(data[0]?.last_call_at).not.toBeNull();
  });

  it('belong to one tenant', async () => {
    expect((await list('umbrella')).data.map(({ principal_id }) => principal_id)).toEqual(['other-clerk']);
    await expect(profile('clerk', 'umbrella')).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(profile('never-seen')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('show enrolment and live keys, also before the first call', async () => {
    const acme = test.as('acme', 'olga');
    const params = { directory: 'agents', principal: named('new-agent') } as const;
    await acme.putIdentity({ params, query: {}, body: { display_name: 'New agent' } });
    const body = { kind: 'agent', principal_id: named('new-agent'), expires_in_days: 1 } as const;
    const { key_id } = (await acme.createAccessKey({ query: {}, body })).body;
    await acme.createAccessKey({ query: {}, body });
    await acme.revokeAccessKey({ params: { key_id }, query: {} });
    expect(await profile('new-agent')).toMatchObject({
      ...{ display_name: 'New agent', state: 'active', live_keys: 1, last_call_at: null, enrolled_by: 'olga' },
    });
    await acme.revokeIdentity({ params, query: {} });
    expect(await profile('new-agent')).toMatchObject({ state: 'revoked', live_keys: 0 });
  });

  it('are shown as slowed or stopped until the fence on them is lifted', async () => {
    await stop('throttle', 1);
    expect(await profile('scout')).toMatchObject({ state: 'slowed', stop: { reason: 'it loops', call_limit: 30 } });
    await stop('quarantine', 2);
    expect((await list()).data).toContainEqual(expect.objectContaining({ principal_id: 'scout', state: 'stopped' }));
    await stop('open', 3);
    expect(await profile('scout')).toMatchObject({ state: 'active', stop: null });
  });

  it('show how many of their approvals were requested, approved, denied and expired', async () => {
    expect((await profile('clerk')).approvals).toEqual({ requested: 1, approved: 0, denied: 0, expired: 0 });
  });

  it('state until when their counts are complete, while the counters are behind the log', async () => {
    await seal(test, { principal: 'late-agent' });
    const { complete_to } = await profile('late-agent');
    await countDecisions(test.kernel.context.transaction);
    const after = await profile('late-agent');
    expect([complete_to === null || complete_to <= (after.last_call_at ?? ''), after.complete_to]).toEqual([
      true,
      null,
    ]);
    expect(after.day.allowed).toBe(1);
  });
});
