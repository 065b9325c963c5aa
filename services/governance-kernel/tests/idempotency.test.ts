import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import { createClient } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf, type Call } from './_caller.ts';
import { kernelRoutes, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock }, env: { GOV_POLICY_MAX_AGE: '400d' } });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

let tenants = 0;
async function newTenant(): Promise<string> {
  const tenant = `tenant-${(tenants += 1)}`;
  await test.as(tenant).putBudget({
    params: { budget_id: 'calls' },
    body: { subject: 'tenant', window: 'total', tool_call_limit: 100 } as never,
  });
  return tenant;
}
const used = async (tenant: string) => (await test.as(tenant).listBudgets()).body.data[0]?.used.tool_calls;
const call = (changes: Call = {}): Call => ({
  tool: 'files.read',
  effect_level: 'E1',
  session_id: newSession(),
  ...changes,
});
const key = { 'idempotency-key': 'key-1' };

describe('a repeated evaluate request', () => {
  verifies(
    'kn.idempotent',
    'with the same key and body returns the same receipt and uses the budget once',
    async () => {
      const tenant = await newTenant();
      const [agent, body] = [new Caller(test, tenant), call()];
      const first = await agent.decide(body, key);
      for (let repeat = 0; repeat < 3; repeat += 1) expect(await agent.decide(body, key)).toEqual(first);
      expect(await ledgerOf(test, String(body.session_id))).toHaveLength(1);
      expect(await used(tenant)).toBe(1);
    },
  );

  it('is denied while its tenant is in quarantine, and then returns the first reply again', async () => {
    const tenant = await newTenant();
    const [agent, body] = [new Caller(test, tenant), call()];
    const first = await agent.decide(body, key);
    await test.setFence(`tenant:${tenant}`, 'quarantine');
    expect(answerOf(await agent.decide(body, key))).toBe('DENY TENANT_QUARANTINED');
    expect(await ledgerOf(test, String(body.session_id))).toHaveLength(2);
    await test.setFence(`tenant:${tenant}`, 'open');
    expect(await agent.decide(body, key)).toEqual(first);
    expect(await used(tenant)).toBe(1);
  });

  it('is denied if its workspace blocked the tool in the meantime', async () => {
    const tenant = await newTenant();
    const [agent, body] = [new Caller(test, tenant), call()];
    expect(answerOf(await agent.decide(body, key))).toBe('ALLOW ALLOWED');
    await test.system.putToolBlocks({ params: { tenant }, body: { version: 1, tools: ['files.read'] } });
    expect(answerOf(await agent.decide(body, key))).toBe('DENY TOOL_BLOCKED');
  });

  it('is denied to an access key that may not make the call', async () => {
    const tenant = await newTenant();
    const keyFor = async (tools?: string[]) => {
      const terms = { kind: 'agent', principal_id: 'agent', tools } as never; // the kernel fills in the defaults
      const { key: bearer } = (await test.as(tenant).createAccessKey({ body: terms })).body;
      const headers = () => ({ authorization: `Bearer ${bearer}`, ...key });
      return createClient(kernelRoutes, { baseUrl: test.kernel.url, headers });
    };
    const body = { action: 'tool.call', ...call() } as never;
    const [all, few] = [await keyFor(), await keyFor(['files.list'])];
    expect(answerOf((await all.evaluate({ body })).body)).toBe('ALLOW ALLOWED');
    expect(answerOf((await few.evaluate({ body })).body)).toBe('DENY INSUFFICIENT_SCOPE');
  });

  it('is denied if the access key was revoked in the meantime', async () => {
    const tenant = await newTenant();
    const terms = { kind: 'agent', principal_id: 'agent' } as never; // the kernel fills in the defaults
    const { key: bearer, key_id } = (await test.as(tenant).createAccessKey({ body: terms })).body;
    const headers = () => ({ authorization: `Bearer ${bearer}`, ...key });
    const client = createClient(kernelRoutes, { baseUrl: test.kernel.url, headers });
    const body = { action: 'tool.call', ...call() } as never;
    expect(answerOf((await client.evaluate({ body })).body)).toBe('ALLOW ALLOWED');
    await test.as(tenant).revokeAccessKey({ params: { key_id } });
    expect(answerOf((await client.evaluate({ body })).body)).toBe('DENY AGENT_REVOKED');
  });

  verifies('kn.idempotent', 'makes one decision when it is sent twenty times in parallel', async () => {
    const tenant = await newTenant();
    const [agent, body] = [new Caller(test, tenant), call()];
    const replies = await Promise.all(Array.from({ length: 20 }, () => agent.decide(body, key)));
    expect(new Set(replies.map(({ receipt_id }) => receipt_id)).size).toBe(1);
    expect(await ledgerOf(test, String(body.session_id))).toHaveLength(1);
    expect(await used(tenant)).toBe(1);
  });

  verifies('kn.idempotent', 'makes one decision when it is sent twenty times in parallel to two replicas', async () => {
    const tenant = await newTenant();
    const body = call();
    const { startKernel, kernelConfigFrom } = await import('../src/index.ts');
    const replica = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
    try {
      const { as } = test;
      const urls = [test.kernel.url, replica.url];
      const send = async (index: number) => {
        const response = await fetch(`${urls[index % 2]}/api/v1/evaluate`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${test.env['GOV_ADMIN_API_KEY']}`,
            'x-gov-tenant-id': tenant,
            'content-type': 'application/json',
            ...key,
          },
          body: JSON.stringify({ action: 'tool.call', ...body }),
        });
        return [response.status, ((await response.json()) as DecisionReply).receipt_id];
      };
      const replies = await Promise.all(Array.from({ length: 20 }, (_, index) => send(index)));
      expect(new Set(replies.map(String)).size).toBe(1);
      expect((await as(tenant).listBudgets()).body.data[0]?.used.tool_calls).toBe(1);
    } finally {
      await replica.stop();
    }
  });

  verifies('kn.idempotent', 'is marked by a header, and returns denials and escalations too', async () => {
    const agent = new Caller(test, await newTenant());
    for (const changes of [{ tool: 'files.delete' }, { tool: 'pay.send' }]) {
      const headers = { 'idempotency-key': `key-${changes.tool}` };
      const body = { action: 'tool.call', ...call(changes) };
      const first = await agent.client.evaluate({ body: body as never, headers });
      const again = await agent.client.evaluate({ body: body as never, headers });
      expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
        null,
        'true',
      ]);
      expect(again.body).toEqual(first.body);
      expect(again.headers.get('x-gov-receipt-id')).toBe(first.body.receipt_id);
    }
  });

  verifies('kn.idempotent', 'with a different body is refused with 422 and decides nothing', async () => {
    const tenant = await newTenant();
    const agent = new Caller(test, tenant);
    await agent.decide(call(), key);
    expect(await refusal(agent.decide(call({ tool: 'files.list' }), key))).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(await used(tenant)).toBe(1);
  });

  verifies('kn.idempotent', 'from another tenant or principal is a separate decision', async () => {
    const [tenant, second, body] = [await newTenant(), await newTenant(), call()];
    const replies = [
      await new Caller(test, tenant, 'agent').decide(body, key),
      await new Caller(test, tenant, 'agent-2').decide(body, key),
      await new Caller(test, second, 'agent').decide(body, key),
    ];
    expect(new Set(replies.map(({ receipt_id }) => receipt_id)).size).toBe(3);
  });

  verifies('kn.idempotent', 'does not use an approval twice', async () => {
    const [agent, alice] = [new Caller(test, 'acme'), new Caller(test, 'acme', 'alice')];
    const body = call({ tool: 'pay.send' });
    await alice.move('approve', send(await agent.decide(body)));
    expect(answerOf(await agent.decide(body, key))).toBe('ALLOW ALLOWED');
    expect(answerOf(await agent.decide(body, key))).toBe('ALLOW ALLOWED');
    expect(answerOf(await agent.decide(body))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await ledgerOf(test, String(body.session_id))).toHaveLength(4);
  });

  it('is a new decision after 24 hours', async () => {
    const agent = new Caller(test, await newTenant());
    const first = await agent.decide(call(), key);
    time.advance(86_400_001);
    expect((await agent.decide(call({ tool: 'files.list' }), key)).receipt_id).not.toBe(first.receipt_id);
  });
});
