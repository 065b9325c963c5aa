import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { microsOf } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { createBoundary } from '../src/decision/boundary.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { Caller, movableClock, newSession, refusal } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: in-flight
version: '1'
rules:
  - { id: all, effect: allow, match: { action: [tool.call, model.call, agent.spawn] } }
`;
const hourMs = 3_600_000;
/** Longer than the clock moves in a test, because abandoned calls are settled in the background. */
const deadlineMs = 2 * hourMs;
const time = movableClock('2026-11-21T10:30:00.000Z');

let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  const overrides = { clock: time.clock };
  test = await startTestKernel({ overrides, env: { GOV_POLICY_MAX_AGE: '400d', GOV_DISPATCH_DEADLINE: '2h' } });
  await test.activate('*', policy);
  second = await startKernel(kernelConfigFrom(test.env), overrides);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

let tenants = 0;
const newTenant = () => `in-flight-${(tenants += 1)}`;
async function put(tenant: string, terms: object, budget_id = 'held'): Promise<void> {
  const body = { subject: 'tenant', window: 'total', ...terms } as never; // the schema fills in the defaults
  await test.as(tenant).putBudget({ params: { budget_id }, body });
}
const shown = async (tenant: string, budget_id = 'held') =>
  (await test.system.getBudget({ params: { tenant, budget_id } })).body;
const none = { tool_calls: 0, spend_minor: 0, egress_bytes: 0, writes: 0 };

describe('a budget', () => {
  verifies(
    'kn.budget',
    'shows its remainder and the calls that reserve from it, oldest first, until they are settled',
    async () => {
      const tenant = newTenant();
      await put(tenant, { tool_call_limit: 5, spend_limit_minor: 100, currency: 'EUR' });
      await put(tenant, { subject: 'agent:bob', tool_call_limit: 5 }, 'bobs');
      const { boundary } = test.kernel.context;
      const sent = (principal: string) =>
        decideAndDie(
          boundary,
          spawnedAgent({ tenant, principal, session: newSession(), demand: { spend_micros: microsOf(3) + 1n } }),
        );
      const ofAnn = await sent('ann');
      const ofBob = await sent('bob');
      const holds = { tool_calls: 1, spend_minor: 4, egress_bytes: 2, writes: 1 };
      const callOf = ({ reply }: typeof ofAnn, principal_id: string) => ({
        decision_id: reply.decision_id,
        tenant_id: tenant,
        principal_id,
        tool: null,
        issued_at: time.clock().toISOString(),
        deadline_at: new Date(time.clock().getTime() + deadlineMs).toISOString(),
        holds,
      });
      expect(await shown(tenant)).toMatchObject({
        used: none,
        reserved: { tool_calls: 2, spend_minor: 7, egress_bytes: 4, writes: 2 },
        remaining: { tool_calls: 3, spend_minor: 93, egress_bytes: null, writes: null },
        resets_at: null,
        in_flight: [callOf(ofAnn, 'ann'), callOf(ofBob, 'bob')],
        more_in_flight: false,
      });
      expect((await shown(tenant, 'bobs')).in_flight).toEqual([callOf(ofBob, 'bob')]);
      await boundary.settle(ofAnn, { outcome: 'completed', spentMicros: 1n });
      const { used, remaining, in_flight } = await shown(tenant);
      expect([used.spend_minor, remaining.spend_minor]).toEqual([1, 96]);
      expect(in_flight.map(({ principal_id }) => principal_id)).toEqual(['bob']);
      const { body } = await test.as(tenant).listBudgets();
      expect(body.data.map(({ budget_id, remaining: rest }) => [budget_id, rest.tool_calls])).toEqual([
        ['bobs', 4],
        ['held', 3],
      ]);
    },
  );

  verifies('kn.tenants', 'of one tenant is not found under another, whatever its name', async () => {
    const [tenant, neighbour] = [newTenant(), newTenant()];
    await put(tenant, { tool_call_limit: 1 });
    expect(await refusal(shown(neighbour))).toBe('NOT_FOUND');
    expect(await refusal(test.as(tenant).getBudget({ params: { tenant, budget_id: 'held' } }))).toBe(
      'CREDENTIALS_INVALID',
    );
    expect(await refusal(shown('*', 'ceiling.installation'))).toBe('INVALID_REQUEST');
  });

  it('reports more_in_flight when not all open calls were searched', async () => {
    const tenant = newTenant();
    await put(tenant, { tool_call_limit: 1 });
    await test.pool.query(
      `INSERT INTO dispatches (ulid, tenant_id, reservations, deadline_at)
       SELECT lpad(n::text, 26, '0'), $1, '[]', now() + interval '1 hour' FROM generate_series(1, 1000) n`,
      [tenant],
    );
    expect(await shown(tenant)).toMatchObject({ in_flight: [], more_in_flight: true });
    await test.pool.query(`DELETE FROM dispatches WHERE tenant_id = $1`, [tenant]);
    expect(await shown(tenant)).toMatchObject({ in_flight: [], more_in_flight: false });
  });

  verifies('kn.budget', 'counts a call that is settled after the window’s end in the new window', async () => {
    const tenant = newTenant();
    await put(tenant, { window: '1h', tool_call_limit: 5 });
    const { boundary } = test.kernel.context;
    const late = await decideAndDie(boundary, spawnedAgent({ tenant, session: newSession() }));
    time.advance(hourMs);
    expect(await shown(tenant)).toMatchObject({
      used: none,
      reserved: { tool_calls: 1 },
      remaining: { tool_calls: 4 },
    });
    await boundary.settle(late, { outcome: 'completed' });
    expect(await shown(tenant)).toMatchObject({ used: { tool_calls: 1 }, remaining: { tool_calls: 4 } });
    await new Caller(test, tenant).decide({ tool: 'a' });
    expect(await shown(tenant)).toMatchObject({ used: { tool_calls: 2 }, remaining: { tool_calls: 3 } });
  });
});

describe('50 parallel calls on two kernels', () => {
  const ceilings: [string, object, object][] = [
    ['calls', { tool_call_limit: 10 }, {}],
    ['bytes', { egress_limit_bytes: 1_000 }, { demand: { egress_bytes: 100 } }],
    ['writes', { write_limit: 10 }, {}],
    ['spend', { spend_limit_minor: 10, currency: 'EUR' }, { demand: { spend_micros: microsOf(1) } }],
  ];
  for (const [name, terms, report] of ceilings) {
    verifies(
      'kn.budget',
      `get exactly the 10 ALLOWs that the ceiling of ${name} permits, and reserve nothing once they are settled`,
      async () => {
        const tenant = newTenant();
        await put(tenant, terms);
        const boundaries = [test.kernel, second].map(({ context }) => context.boundary);
        const calls = boundaries.flatMap((boundary) => Array.from({ length: 25 }, () => boundary));
        const decide = (boundary: (typeof boundaries)[number]) =>
          decideAndDie(boundary, spawnedAgent({ tenant, session: newSession(), ...report }));
        const decisions = await Promise.all(calls.map(decide));
        const allowed = decisions.filter(({ reply }) => reply.verdict === 'ALLOW');
        expect(allowed).toHaveLength(10);
        expect(decisions.filter(({ reply }) => reply.reason_code === 'BUDGET_EXCEEDED')).toHaveLength(40);
        const { in_flight, more_in_flight, used } = await shown(tenant);
        expect([in_flight.length, more_in_flight, used]).toEqual([10, false, none]);
        const [first, ...others] = allowed;
        await Promise.all(
          others.map((decision) => second.context.boundary.settle(decision, { outcome: 'completed', spentMicros: 1n })),
        );
        expect((await shown(tenant)).in_flight.map(({ decision_id }) => decision_id)).toEqual([
          first?.reply.decision_id,
        ]);
      },
    );
  }
});

describe('a call of a model that lets its provider run tools', () => {
  const search = (tenant: string, hosted_tools: string[]) =>
    ({
      kind: 'model',
      caller: { tenant, principal: 'agent', scopes: ['*'] },
      session: newSession(),
      model: 'm',
      args: { hosted_tools },
      context: {},
    }) as never; // plain strings instead of branded ones

  verifies(
    'kn.budget',
    'counts once in the budget of each tool, in every spelling, and once in the tenant budget',
    async () => {
      const tenant = newTenant();
      await put(tenant, { subject: 'tool:web_search', tool_call_limit: 1 }, 'searches');
      await put(tenant, { tool_call_limit: 10 }, 'all');
      const { boundary } = test.kernel.context;
      const decide = async (tools: string[]) => {
        const { reply } = await decideAndDie(boundary, search(tenant, tools));
        return `${reply.verdict} ${reply.reason_code}`;
      };
      expect(await decide([])).toBe('ALLOW ALLOWED');
      expect(await decide(['Web_Search', 'web_search', 'code_interpreter'])).toBe('ALLOW ALLOWED');
      expect((await shown(tenant, 'searches')).reserved.tool_calls).toBe(1);
      expect((await shown(tenant, 'all')).reserved.tool_calls).toBe(1);
      expect((await shown(tenant, 'searches')).in_flight).toHaveLength(1);
      expect(await decide(['WEB_SEARCH'])).toBe('DENY BUDGET_EXCEEDED');
      expect(await decide(['code_interpreter'])).toBe('ALLOW ALLOWED');
    },
  );

  it('is among the calls in progress that a fence on one of the tools reports', async () => {
    const tenant = newTenant();
    const { cycle } = test.kernel.context;
    const boundary = createBoundary(cycle);
    await decideAndDie(boundary, search(tenant, ['web_search']));
    await test.setFence(`tool:${tenant}/web_search`, 'freeze');
    await test.setFence(`tool:${tenant}/code_interpreter`, 'freeze');
    const inFlight = async (tool: string) =>
      (await test.system.getFence({ params: { scope: `tool:${tenant}/${tool}` } })).body.in_flight;
    expect(await inFlight('web_search')).toMatchObject([{ tenant_id: tenant, principal_id: 'agent', tool: null }]);
    expect(await inFlight('code_interpreter')).toEqual([]);
  });
});
