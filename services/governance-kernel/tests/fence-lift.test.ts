import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Caller, ledgerOf, newSession, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = (rules: string) => `
format: countersign/policy.v1
name: lifts
version: '1'
rules:
${rules}
tools:
  files.read: { effect_level: E1 }
`;
const open = policy(`
  - { id: asks, effect: escalate, match: { action: [fence.lift], principal: [peter] } }
  - { id: closed, effect: deny, match: { action: [fence.lift], principal: [mallory] } }
  - { id: all, effect: allow }`);

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', open);
});
afterAll(() => test.close());

let tenants = 0;
let tenant = '';
const newTenant = () => (tenant = `lifted-${(tenants += 1)}`);
const fence = (scope: string, options: object = {}) =>
  test.system.putFence({
    params: { scope },
    body: { kind: 'freeze', epoch: 3, reason: 'a leak', set_by: 'olga', ...options },
  } as never); // the schema brands these strings and fills in the defaults
const whole = () => `tenant:${tenant}`;
const lift = (resource: string, more: object = {}, principal = 'olga') =>
  new Caller(test, tenant, principal).decide({ action: 'fence.lift', resource, effect_level: 'E3', ...more });
const lifts = async (...values: Parameters<typeof lift>) => answerOf(await lift(...values));
const frozen = 'DENY SYSTEM_FROZEN';

describe('the decision to lift a fence', () => {
  it('follows the policy inside the fence that it names, and does not lift the fence by itself', async () => {
    newTenant();
    const limit = { call_limit: 0, window_seconds: 60 };
    const stops = [{ kind: 'freeze' }, { kind: 'quarantine' }, { kind: 'throttle', ...limit }];
    for (const [before, stop] of stops.entries()) {
      const epoch = before + 1;
      await fence(whole(), { ...stop, epoch });
      const named = `fence:${whole()}?epoch=${epoch}`;
      expect([stop.kind, await lifts(named)]).toEqual([stop.kind, 'ALLOW ALLOWED']);
      expect(await lifts(named, {}, 'peter')).toBe('ESCALATE APPROVAL_REQUIRED');
      expect(await lifts(named, {}, 'mallory')).toBe('DENY POLICY_DENIED');
      expect((await new Caller(test, tenant).decide({ tool: 'files.read' })).verdict).toBe('DENY');
    }
    const session_id = newSession();
    await lift(`fence:${whole()}?epoch=3`, { session_id });
    const [sealed] = await ledgerOf(test, session_id);
    expect(sealed?.payload).toMatchObject({ action: 'fence.lift', principal_id: 'olga', verdict: 'ALLOW' });
  });

  it('is stopped by every other fence, and by this fence unless its scope and epoch are named exactly', async () => {
    newTenant();
    await fence(whole());
    const named = `fence:${whole()}?epoch=3`;
    expect(await lifts(named)).toBe('ALLOW ALLOWED');
    const others = [
      ...[2, 4, '03', '3.0', '3&epoch=3', ''].map((epoch) => `fence:${whole()}?epoch=${epoch}`),
      ...[
        `fence:tenant:${tenant}x?epoch=3`,
        'fence:system?epoch=3',
        `fence:*?epoch=3`,
        `${named}#`,
        `Fence:${whole()}?epoch=3`,
      ],
      ...[`fence:agent:${tenant}/olga?epoch=3`, `fence:tool:${tenant}/files.read?epoch=3`, whole()],
    ];
    for (const second of others) expect([second, await lifts(second)]).toEqual([second, frozen]);
    expect(await lifts(named, { tool: 'files.read' })).toBe(frozen);
    for (const action of ['fence.lifted', 'fence.set', 'connector.approve', 'policy.change'])
      expect([action, await lifts(named, { action })]).toEqual([action, frozen]);

    const [mine] = [tenant, newTenant()];
    await fence(whole());
    expect(await lifts(`fence:tenant:${mine}?epoch=3`)).toBe(frozen);
  });

  it('is refused to a caller who is fenced itself, and inside a wider fence', async () => {
    newTenant();
    await fence(`agent:${tenant}/olga`, { kind: 'quarantine' });
    const ofOlga = `fence:agent:${tenant}/olga?epoch=3`;
    expect(await lifts(ofOlga)).toBe('DENY AGENT_QUARANTINED');
    expect(await lifts(ofOlga, {}, 'anna')).toBe('ALLOW ALLOWED');
    await fence(whole());
    expect(await lifts(ofOlga, {}, 'anna')).toBe(frozen);
    expect(await lifts(`fence:${whole()}?epoch=3`)).toBe('DENY AGENT_QUARANTINED');
    expect(await lifts(`fence:${whole()}?epoch=3`, {}, 'anna')).toBe('ALLOW ALLOWED');

    await test.system.putTenant({ params: { tenant }, body: { version: 1, org_id: 'org-lifts' } });
    await fence('org:org-lifts', { kind: 'quarantine' });
    for (const scope of [whole(), 'org:org-lifts'])
      expect(await lifts(`fence:${scope}?epoch=3`, {}, 'anna')).toBe('DENY TENANT_QUARANTINED');
    await fence('org:org-lifts', { kind: 'open', epoch: 4 });
    await fence('system');
    for (const scope of [whole(), 'system']) expect(await lifts(`fence:${scope}?epoch=3`, {}, 'anna')).toBe(frozen);
    await fence('system', { kind: 'open', epoch: 4 });
    expect(await lifts(`fence:${whole()}?epoch=3`, {}, 'anna')).toBe('ALLOW ALLOWED');
  });
});
