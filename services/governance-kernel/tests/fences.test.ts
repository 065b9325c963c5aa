import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Fence } from '@countersign/contracts/governance-kernel';
import { createKernelClient } from '@countersign/contracts/routes';
import { createBoundary } from '../src/decision/boundary.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { adminKey, startTestKernel, systemOf, type KernelClient, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: fences
version: '1'
rules:
  - { id: payments, effect: escalate, match: { tool: ['pay.*'] } }
  - { id: all, effect: allow, match: { action: [tool.call, agent.spawn] } }
tools:
  files.read: { effect_level: E1 }
  files.list: { effect_level: E1 }
  mail.send: { effect_level: E3 }
  shared.read: { effect_level: E1 }
`;

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('*', policy);
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let tenants = 0;
const newTenant = () => `fenced-${(tenants += 1)}`;
const read = { tool: 'files.read', effect_level: 'E1' };
const decided = async (tenant: string, call: object = read, principal = 'agent') =>
  answerOf(await new Caller(test, tenant, principal).decide(call));

type Command = Partial<Pick<Fence, 'kind' | 'epoch' | 'reason' | 'call_limit' | 'window_seconds'>> & {
  expires_at?: string;
};
const command = (scope: string, input: Command) =>
  test.system.putFence({
    params: { scope },
    body: { kind: 'freeze', epoch: 1, reason: 'a leak', set_by: 'olga', ...input },
  } as never); // the schema brands these strings and fills in the defaults

describe('a fence', () => {
  it('stops the calls in its scope, in every spelling, and no other calls', async () => {
    const [tenant, neighbour] = [newTenant(), newTenant()];
    const list = { tool: 'files.list', effect_level: 'E1' };
    await command(`tool:${tenant}/Files__Read`, { kind: 'quarantine' });
    expect(await decided(tenant)).toBe('DENY TOOL_QUARANTINED');
    expect(await decided(tenant, { ...read, tool: 'files__read' })).toBe('DENY TOOL_QUARANTINED');
    expect([await decided(tenant, list), await decided(neighbour)]).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED']);

    await command(`agent:${tenant}/ann`, { kind: 'quarantine' });
    expect(await decided(tenant, list, 'ann')).toBe('DENY AGENT_QUARANTINED');
    expect([await decided(tenant, list, 'bob'), await decided(neighbour, list, 'ann')]).toEqual([
      'ALLOW ALLOWED',
      'ALLOW ALLOWED',
    ]);
    await command('tool:*/mail.send', { kind: 'quarantine' });
    await command('server:mail', { kind: 'freeze' });
    expect(await decided(neighbour, { tool: 'mail.send' })).toBe('DENY SYSTEM_FROZEN');
    await command('server:mail', { kind: 'open', epoch: 2 });
    expect(await decided(neighbour, { tool: 'mail.send' })).toBe('DENY TOOL_QUARANTINED');
    await command('tool:*/mail.send', { kind: 'open', epoch: 2 });
    expect(await decided(neighbour, { tool: 'mail.send' })).toBe('ALLOW ALLOWED');
    await command(`server:${tenant}/mail`, { kind: 'quarantine' });
    expect(await decided(tenant, { tool: 'mail.send' })).toBe('DENY TOOL_QUARANTINED');
    expect(await decided(neighbour, { tool: 'mail.send' })).toBe('ALLOW ALLOWED');
    const sealed = (await ledgerOf(test, 'fences')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload }) => payload.resource)).toContain(`fence:server:${tenant}/mail`);
  });

  it.each(['agent:a/ bob', 'tool:a/files.read ', 'tool:*/\u200b', 'tool:a/.'])(
    'is refused for a scope that no call can match: %j',
    async (scope) => {
      expect(await refusal(command(scope, {}))).toBe('INVALID_REQUEST');
    },
  );

  it('does not confuse tenants whose names contain a colon', async () => {
    await command('agent:a/b:c', { kind: 'quarantine' });
    expect(await decided('a', read, 'b:c')).toBe('DENY AGENT_QUARANTINED');
    expect(await decided('a:b', read, 'c')).toBe('ALLOW ALLOWED');
  });

  it('stops a call that waited for an approval, even after the approval', async () => {
    const tenant = newTenant();
    const [agent, approver] = [new Caller(test, tenant), new Caller(test, tenant, 'approver')];
    const pay = { tool: 'pay.out', effect_level: 'E3', session_id: newSession() };
    const question = send(await agent.decide(pay));
    await approver.move('approve', question);
    await command(`tenant:${tenant}`, {});
    expect(answerOf(await agent.decide(pay))).toBe('DENY SYSTEM_FROZEN');
    await command(`tenant:${tenant}`, { kind: 'open', epoch: 2 });
    expect(answerOf(await agent.decide(pay))).toBe('ALLOW ALLOWED');
  });

  it('is named in a denial with its reason, recorded with its epoch, and sealed with the person who set it', async () => {
    const tenant = newTenant();
    const session_id = newSession();
    await command(`tenant:${tenant}`, { epoch: 7, reason: 'the vault leaks' });
    const { reason } = await new Caller(test, tenant).decide({ ...read, session_id });
    expect(reason).toBe(`tenant:${tenant} is under freeze: the vault leaks`);
    const [decision] = await ledgerOf(test, session_id);
    const fence = { scope: `tenant:${tenant}`, kind: 'freeze', epoch: 7, calls_remaining: null };
    expect(decision?.record?.fences).toEqual([fence]);
    const sealed = (await ledgerOf(test, 'fences')).filter(({ payload }) => payload.tenant_id === tenant);
    expect(sealed.map(({ payload, record }) => [payload.principal_id, payload.action, record?.intent.facts])).toEqual([
      ['olga', 'fence.set', expect.objectContaining({ kind: 'freeze', epoch: 7, reason: 'the vault leaks' })],
    ]);
    const { rows } = await test.pool.query<{ envelope: string }>(
      `SELECT envelope::text FROM outbox WHERE type = 'kernel.fence.set.v1' AND envelope::text LIKE $1`,
      [`%"tenant:${tenant}"%`],
    );
    expect(rows).toHaveLength(1);
  });

  it('opens by itself when it expires', async () => {
    const tenant = newTenant();
    const soon = new Date(time.clock().getTime() + 1_500).toISOString();
    await command(`tenant:${tenant}`, { expires_at: soon });
    expect(await decided(tenant)).toBe('DENY SYSTEM_FROZEN');
    time.advance(1_499);
    expect(await decided(tenant)).toBe('DENY SYSTEM_FROZEN');
    time.advance(1);
    expect(await decided(tenant)).toBe('ALLOW ALLOWED');
  });

  it('is refused when its end has passed, unless the command repeats the current fence', async () => {
    const scope = `tenant:${newTenant()}`;
    const soon = new Date(time.clock().getTime() + 1_500).toISOString();
    await command(scope, { expires_at: soon });
    time.advance(1_500);
    expect((await command(scope, { expires_at: soon })).body).toMatchObject({ epoch: 1, expires_at: soon });
    expect(await refusal(command(scope, { epoch: 2, expires_at: soon }))).toBe('END_PASSED');
    const { body } = await test.system.getFence({ params: { scope } });
    expect(body).toMatchObject({ epoch: 1 });
  });
});

describe('a command', () => {
  it('never replaces a later one, in any order of arrival', async () => {
    const scope = `tenant:${newTenant()}`;
    await command(scope, { epoch: 5 });
    expect(await refusal(command(scope, { kind: 'open', epoch: 4 }))).toBe('ILLEGAL_TRANSITION');
    expect(await refusal(command(scope, { kind: 'open', epoch: 5 }))).toBe('ILLEGAL_TRANSITION');
    expect((await command(scope, { epoch: 5 })).body).toMatchObject({ kind: 'freeze', epoch: 5 });
    await command(scope, { kind: 'open', epoch: 6 });
    expect(await refusal(command(scope, { epoch: 5 }))).toBe('ILLEGAL_TRANSITION');
    expect((await test.system.getFence({ params: { scope } })).body).toMatchObject({ kind: 'open', epoch: 6 });
    const sealed = (await ledgerOf(test, 'fences')).filter(({ payload }) => payload.resource === `fence:${scope}`);
    expect(sealed).toHaveLength(2);
  });

  it('is refused if another command with its epoch came first, even to another kernel', async () => {
    const scope = `tenant:${newTenant()}`;
    const replicas = [test.kernel.url, second.url].map(systemOf);
    const sent = replicas.map((system, index) =>
      refusal(
        system
          .putFence({
            params: { scope },
            body: { kind: 'freeze', epoch: 1, reason: `reason ${index}`, set_by: 'olga' },
          } as never)
          .then(() => Promise.reject(new Error('set'))),
      ).catch((error: unknown) => (error as Error).message),
    );
    expect((await Promise.all(sent)).sort()).toEqual(['ILLEGAL_TRANSITION', 'set']);
  });

  it.each([
    ['scope', 'org:', {}],
    ['scope', 'org:acme/ann', {}],
    ['scope', 'agent:acme', {}],
    ['scope', 'tool:/files.read', {}],
    ['scope', 'tool:*/\u200b', {}],
    ['call_limit', 'system', { kind: 'throttle', window_seconds: 60 }],
    ['window_seconds', 'system', { kind: 'throttle', call_limit: 1 }],
    ['call_limit', 'system', { kind: 'freeze', call_limit: 1, window_seconds: null }],
    ['reason', 'system', { reason: '' }],
  ] as const)('is refused when its %s is invalid: %s', async (member, scope, input) => {
    await expect(command(scope, input as Command)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(member),
    });
  });
});

describe('a throttle', () => {
  it('allows exactly its limit of 50 parallel calls, across two kernels', async () => {
    const tenant = newTenant();
    await command(`tenant:${tenant}`, { kind: 'throttle', call_limit: 10, window_seconds: 3_600 });
    const clients = [test.kernel.url, second.url].map((baseUrl) =>
      createKernelClient({ baseUrl, apiKey: adminKey }).as({ tenant }),
    );
    const decideAt = async (client: KernelClient) => {
      const body = { action: 'tool.call', session_id: newSession(), ...read } as never; // plain strings instead of branded ones
      return answerOf((await client.evaluate({ body })).body);
    };
    const verdicts = await Promise.all(clients.flatMap((client) => Array.from({ length: 25 }, () => decideAt(client))));
    expect(verdicts.filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(10);
    expect(verdicts.filter((verdict) => verdict === 'DENY THROTTLED')).toHaveLength(40);
    const { body } = await test.system.getFence({ params: { scope: `tenant:${tenant}` } });
    expect(body).toMatchObject({ call_limit: 10, calls_taken: 10 });
  });

  it('continues its count when it is set again, and starts from zero in the next window', async () => {
    const tenant = newTenant();
    const throttle = { kind: 'throttle', call_limit: 1, window_seconds: 2 } as const;
    const windowEnds = () => time.advance(2_000 - (time.clock().getTime() % 2_000));
    await command(`tenant:${tenant}`, throttle);
    expect([await decided(tenant), await decided(tenant)]).toEqual(['ALLOW ALLOWED', 'DENY THROTTLED']);
    await command(`tenant:${tenant}`, { ...throttle, epoch: 2 });
    expect(await decided(tenant)).toBe('DENY THROTTLED');
    windowEnds();
    expect([await decided(tenant), await decided(tenant)]).toEqual(['ALLOW ALLOWED', 'DENY THROTTLED']);
  });

  it('around several tenants does not show them how many calls are left', async () => {
    const [tenant, shared] = [newTenant(), 'tool:*/shared.read'];
    const call = { tool: 'shared.read', effect_level: 'E1', session_id: newSession() };
    const throttle = { kind: 'throttle', call_limit: 100, window_seconds: 3_600 } as const;
    await command(shared, throttle);
    await command(`tenant:${tenant}`, throttle);
    await decided(newTenant(), { ...call, session_id: newSession() });
    await decided(tenant, call);
    const [decision] = await ledgerOf(test, call.session_id);
    expect(decision?.record?.fences).toMatchObject([
      { scope: `tenant:${tenant}`, calls_remaining: 100 },
      { scope: shared, calls_remaining: null },
    ]);
    await command(shared, { kind: 'open', epoch: 2 });
  });

  it('counts no call that was denied, escalated or in shadow mode', async () => {
    const tenant = newTenant();
    await command(`tenant:${tenant}`, { kind: 'throttle', call_limit: 1, window_seconds: 3_600 });
    expect(await decided(tenant, { ...read, mode: 'shadow' })).toBe('ALLOW ALLOWED');
    expect(await decided(tenant, { tool: 'pay.out', effect_level: 'E3' })).toBe('ESCALATE APPROVAL_REQUIRED');
    expect([await decided(tenant), await decided(tenant)]).toEqual(['ALLOW ALLOWED', 'DENY THROTTLED']);
  });
});

describe('a call that was allowed and not sent yet', () => {
  it('is stopped by a fence that was set while its process was suspended', async () => {
    const tenant = newTenant();
    let nowMs = 0;
    const { cycle } = test.kernel.context;
    const boundary = createBoundary({ ...cycle, settings: { ...cycle.settings, monotonicMs: () => nowMs } });
    const call = spawnedAgent({ tenant, session: newSession() });
    const decision = await decideAndDie(boundary, call);
    expect(boundary.maySendLate(decision, call.caller)).toBeNull();
    nowMs += 500;
    expect(await boundary.maySendLate(decision, call.caller)).toBe(true);
    await command(`tenant:${tenant}`, {});
    expect(await boundary.maySendLate(decision, call.caller)).toBe(false);
    await command(`tenant:${tenant}`, { kind: 'throttle', epoch: 2, call_limit: 0, window_seconds: 60 });
    expect(await boundary.maySendLate(decision, call.caller)).toBe(true);
  });

  it('is not sent while fences cannot be read, and the failed queries do not end the process', async () => {
    let nowMs = 0;
    const { cycle } = test.kernel.context;
    // All queries fail. They must be awaited together, because an unhandled rejection ends the process and this test.
    const away = () => Promise.reject(new Error('terminating connection due to administrator command'));
    const boundary = createBoundary({
      ...cycle,
      ...{ findFencesAround: away, isRevokedCaller: away, isWithdrawnTool: away },
      settings: { ...cycle.settings, monotonicMs: () => nowMs },
    });
    const call = spawnedAgent({ tenant: newTenant(), session: newSession() });
    const decision = await decideAndDie(boundary, call);
    nowMs += 500;
    await expect(boundary.maySendLate(decision, call.caller)).rejects.toThrow('terminating connection');
  });
});

describe('calls that were sent before a fence', () => {
  it('are listed until they are settled, under each scope that contains them', async () => {
    const [tenant, stranger] = [newTenant(), newTenant()];
    const { boundary } = test.kernel.context;
    const sent = async (of: { tenant: string; principal?: string }) =>
      await decideAndDie(boundary, spawnedAgent({ ...of, session: newSession() }));
    const ofAnn = await sent({ tenant, principal: 'ann' });
    await sent({ tenant, principal: 'bob' });
    await sent({ tenant: stranger, principal: 'ann' });
    const inFlight = async (scope: string) => {
      await command(scope, {});
      const { body } = await test.system.getFence({ params: { scope } }); // plain strings instead of branded ones
      return body.in_flight.map(({ tenant_id, principal_id }) => `${tenant_id} ${principal_id}`);
    };
    expect(await inFlight(`agent:${tenant}/ann`)).toEqual([`${tenant} ann`]);
    expect(await inFlight(`tenant:${tenant}`)).toEqual([`${tenant} ann`, `${tenant} bob`]);
    await boundary.settle(ofAnn, { outcome: 'completed' });
    expect((await test.system.getFence({ params: { scope: `agent:${tenant}/ann` } })).body.in_flight).toEqual([]);
  });

  it('are reported as more_in_flight when too many are open', async () => {
    const scope = 'tool:*/crowded.read';
    await command(scope, {});
    const shown = async () => (await test.system.getFence({ params: { scope } })).body;
    expect(await shown()).toMatchObject({ in_flight: [], more_in_flight: false });
    await test.pool.query(`INSERT INTO dispatches (ulid, tenant_id, reservations, deadline_at)
      SELECT lpad(n::text, 26, '0'), 'crowd', '[]', now() + interval '1 hour' FROM generate_series(1, 1000) n`);
    expect(await shown()).toMatchObject({ in_flight: [], more_in_flight: true });
    await test.pool.query(`DELETE FROM dispatches WHERE tenant_id = 'crowd'`);
  });
});
