import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type TenantId } from '@countersign/contracts';
import type { Approval } from '@countersign/contracts/governance-kernel';
import { announcementStatement } from '@countersign/receipts';
import { verifies } from '@countersign/testkit/verifies';
import { settleAbandoned } from '../src/decision/settle-abandoned.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { announced } from './_announced.ts';
import { send, Caller, ledgerOf, newSession, answerOf, type Call } from './_caller.ts';
import { signedActivation } from './_policies.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import {
  adminKey,
  kernelRoutes,
  poolOf,
  starterPolicy,
  startTestKernel,
  type KernelClient,
  type TestKernel,
} from './_kernel.ts';
import { ledgerStatementsOf } from './_statements.ts';

/** Two kernels on one database, each with its own memory. */
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel();
  second = await startKernel(kernelConfigFrom(test.env));
  await test.activate('*', starterPolicy);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

const onSecond = (principal = 'agent', tenant = 'acme'): KernelClient =>
  createClient(kernelRoutes, {
    baseUrl: second.url,
    headers: () => ({
      authorization: `Bearer ${adminKey}`,
      'x-gov-tenant-id': tenant,
      'x-gov-principal-id': principal,
    }),
  });

const replicas = (tenant = 'acme') => [test.as(tenant, 'agent'), onSecond('agent', tenant)];
const read = (call: Call = {}) => ({ action: 'tool.call', tool: 'files.read', effect_level: 'E1', ...call }) as never;
const decide = async (client: KernelClient, call: Call = {}) =>
  (await client.evaluate({ body: read({ session_id: newSession(), ...call }) })).body;
const everywhere = (call: Call, times = 1, clients = replicas()) =>
  Promise.all(Array.from({ length: times }, () => clients.map((client) => decide(client, call))).flat());

const run = (sql: string) => test.pool.query<Record<string, number>>(sql);

describe('two kernels on one database', () => {
  it('append a decision that uses cached state with one SQL statement', async () => {
    for (const kernel of [test.kernel, second]) {
      const client = kernel === second ? onSecond() : test.as('acme', 'agent');
      const session_id = newSession();
      await decide(client, { session_id });
      const sent = await ledgerStatementsOf(poolOf(kernel), async () => {
        for (let turn = 0; turn < 5; turn += 1) await decide(client, { session_id });
      });
      expect(sent).toEqual(Array(5).fill('ledger-append'));
    }
  });

  verifies('kn.gates', 'apply a freeze in every commit after its acknowledgement', async () => {
    const session_id = newSession();
    expect((await everywhere({ session_id })).map(answerOf)).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED']);
    let stop = false;
    const load = replicas().map(async (client) => {
      while (!stop) await decide(client);
    });
    await test.setFence('tenant:acme', 'freeze');
    const { rows } = await run('SELECT size::int FROM log_head');
    const messages = await everywhere({ session_id }, 5);
    stop = true;
    await Promise.all(load);
    expect(new Set(messages.map(answerOf))).toEqual(new Set(['DENY SYSTEM_FROZEN']));
    const later = await run(
      `SELECT count(*)::int AS allowed FROM ledger WHERE log_index >= ${rows[0]?.['size']} AND verdict = 'ALLOW'`,
    );
    expect(later.rows).toEqual([{ allowed: 0 }]);
    await test.setFence('tenant:acme', 'open');
    expect((await everywhere({ session_id })).map(answerOf)).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED']);
  });

  verifies('kn.gates', 'deny a stopped principal after a failover that lost an earlier change', async () => {
    const session_id = newSession();
    const decided = () => decide(onSecond('stopped'), { session_id });
    const { rows: before } = await run('SELECT epoch FROM controls');
    await test.setFence('agent:acme/lost', 'freeze');
    expect(answerOf(await decided())).toBe('ALLOW ALLOWED');
    // Simulates the promotion of a lagging standby, which lacks both the change and its epoch.
    await run(`BEGIN; DELETE FROM fences WHERE scope = 'agent:acme/lost';
               UPDATE controls SET epoch = ${before[0]?.['epoch']}; COMMIT`);
    await test.setFence('agent:acme/stopped', 'freeze');
    expect(answerOf(await decided())).toBe('DENY SYSTEM_FROZEN');
  });

  verifies('kn.gates', 'use a policy that the other one activated', async () => {
    const tenant = 'changing';
    const session_id = newSession();
    const decided = async () => (await everywhere({ session_id }, 1, replicas(tenant))).map(answerOf);
    expect(await decided()).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED']);
    await test.activate(tenant, starterPolicy.replace('effect: allow', 'effect: deny'));
    expect(await decided()).toEqual(['DENY POLICY_DENIED', 'DENY POLICY_DENIED']);
    await test.activate(tenant, starterPolicy, 2);
    expect(await decided()).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED']);
  });

  verifies(
    'kn.approve.loop',
    'open approvals under the policy that the other one activated, with its effect levels',
    async () => {
      const tenant = 'asking';
      await onSecond('agent', tenant).evaluate({ body: read({ session_id: newSession() }) });
      await test.activate(tenant, `${starterPolicy}  crm.read: { effect_level: E3 }\n`, 3);
      const question = { action: 'tool.call', tool: 'crm.read', session_id: newSession(), reason: 'for a test' };
      const { body } = await onSecond('agent', tenant).createApproval({ body: question as never }); // the kernel adds defaults
      const { rows } = await run(
        `SELECT policy_epoch::int, effect_level FROM approvals WHERE approval_id = '${body.approval_id}'`,
      );
      expect(rows).toEqual([{ policy_epoch: 3, effect_level: 'E3' }]);
    },
  );

  verifies('kn.chain', 'share one session, in which every decision has its own position without a gap', async () => {
    const session_id = newSession();
    await everywhere({ session_id }, 30);
    const clocks = (await ledgerOf(test, session_id)).map(({ payload }) => payload.lamport_clock);
    expect(clocks).toEqual(clocks.map((_, index) => index + 1));
    expect(clocks).toHaveLength(60);
    const { rows } = await run('SELECT count(*)::int AS held, max(log_index)::int + 1 AS size FROM ledger');
    expect(rows[0]?.['held']).toBe(rows[0]?.['size']);
  });

  verifies('kn.budget', 'share one budget: a limit of 10 allows 10 of 50 calls', async () => {
    await run(`INSERT INTO budgets (tenant_id, budget_id, subject, "window", tool_call_limit, updated_at)
               VALUES ('acme', 'ten', 'tool:shared.read', 'total', 10, now())`);
    const messages = await everywhere({ tool: 'shared.read' }, 25);
    expect(messages.map(answerOf).filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(10);
    const { rows } = await run(
      `SELECT used_tool_calls::int AS used, reserved_tool_calls::int AS reserved FROM budgets WHERE tenant_id = 'acme' AND budget_id = 'ten'`,
    );
    expect(rows).toEqual([{ used: 10, reserved: 0 }]);
  });

  verifies(
    'kn.budget',
    'see that the other one released a reservation, even after they refused a call for lack of budget',
    async () => {
      await run(`INSERT INTO budgets (tenant_id, budget_id, subject, "window", tool_call_limit, updated_at)
               VALUES ('acme', 'one', 'principal:holder', 'total', 1, now())`);
      const { context } = second;
      const stored = await decideAndDie(context.boundary, spawnedAgent({ principal: 'holder', session: newSession() }));
      expect([stored.reply.verdict, stored.reserved]).toEqual(['ALLOW', ['one']]);
      const refused = () => decide(test.as('acme', 'holder'));
      expect([answerOf(await refused()), answerOf(await refused())]).toEqual(Array(2).fill('DENY BUDGET_EXCEEDED'));
      await settleAbandoned(context.cycle, { decided: stored.reply.receipt.payload, reserved: stored.reserved });
      expect(answerOf(await refused())).toBe('ALLOW ALLOWED');
    },
  );

  verifies('kn.approve.loop', 'use one approval only once', async () => {
    const call = { tool: 'pay.send', session_id: newSession(), args: { amount: 1 } };
    const [agent, alice] = [new Caller(test), new Caller(test, 'acme', 'alice')];
    const approval = send(await agent.decide(call));
    await decide(onSecond(), call);
    await alice.move('approve', approval);
    const messages = await everywhere(call, 5);
    expect(messages.map(answerOf).filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(1);
  });

  verifies('kn.idempotent', 'return the same answer for the same idempotency key', async () => {
    const body = read({ session_id: newSession() });
    const headers = { 'idempotency-key': 'both-at-once' };
    const messages = await Promise.all(
      replicas().flatMap((client) => [1, 2, 3].map(() => client.evaluate({ body, headers }))),
    );
    expect(new Set(messages.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(await ledgerOf(test, (body as { session_id: string }).session_id)).toHaveLength(1);
  });

  it('begin and share many sessions concurrently without deadlocks', async () => {
    for (let round = 0; round < 5; round += 1) {
      const sessions = Array.from({ length: 30 }, newSession);
      const messages = await Promise.all([
        ...sessions.map((session_id) => decide(test.as('acme', 'agent'), { session_id })),
        ...[...sessions].reverse().map((session_id) => decide(onSecond(), { session_id })),
      ]);
      expect(new Set(messages.map(answerOf))).toEqual(new Set(['ALLOW ALLOWED']));
    }
    expect(await deadlocks()).toBe(0);
  });

  verifies('kn.approve.loop', 'refuse an approval that the other one revoked, even if it is cached', async () => {
    const [session_id, alice] = [newSession(), new Caller(test, 'acme', 'alice')];
    const first = test.as('acme', 'agent');
    const approval = send(await decide(first, { ...payment, session_id }));
    await alice.move('approve', approval);
    expect(answerOf(await decide(first, { ...payment, session_id, mode: 'shadow' }))).toBe('ALLOW ALLOWED');
    await moveOn(onSecond('alice'), 'revoke', await alice.approval(approval));
    // Another call of the session shows the first kernel that the chain has grown, but nothing about the approval.
    await decide(first, { session_id });
    expect(answerOf(await decide(first, { ...payment, session_id }))).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  verifies(
    'kn.approve.loop',
    'accept the revocation of an approval that the other one approved, despite a stale cache',
    async () => {
      const alice = new Caller(test, 'acme', 'alice');
      const approval = send(await decide(test.as('acme', 'agent'), { ...payment, session_id: newSession() }));
      await moveOn(onSecond('alice'), 'approve', await alice.approval(approval));
      expect(await alice.move('revoke', approval)).toMatchObject({ state: 'revoked' });
    },
  );

  verifies('kn.approve.loop', 'open one approval per call, even in a session without earlier approvals', async () => {
    const session_id = newSession();
    await decide(test.as('acme', 'agent'), { session_id });
    const first = send(await decide(test.as('acme', 'agent'), { ...payment, session_id }));
    expect(send(await decide(test.as('acme', 'agent'), { ...payment, session_id }))).toBe(first);
  });

  it('activate policies concurrently without deadlocks', async () => {
    for (let epoch = 1; epoch <= 8; epoch += 1)
      await Promise.all([test.activate('one', starterPolicy, epoch), activateOn(second, 'two', epoch)]);
    expect(await deadlocks()).toBe(0);
  });

  verifies('kn.atomic', 'commit nothing of an entry that seals and then fails', async () => {
    const { ledger, provider, newUlid } = test.kernel.context;
    const session = newSession();
    const entry = ledger.submit({
      chain: { tenant: 'acme' as TenantId, session },
      wants: [],
      conclude: (batch) => {
        batch.seal(announcementStatement(provider, { ...announced, ulid: newUlid(Date.now()), session }));
        throw new Error('too late');
      },
    });
    await expect(entry).rejects.toMatchObject({ code: 'RECEIPT_STORE_UNAVAILABLE' });
    expect(await ledgerOf(test, session)).toEqual([]);
  });
});

const payment = { action: 'tool.call', tool: 'pay.send', args: { amount: 7 } };

async function moveOn(client: KernelClient, action: 'approve' | 'revoke', { approval_id, ceremony_hash }: Approval) {
  const headers = { 'if-match': `"${ceremony_hash}"` };
  await client.transitionApproval({ params: { approval_id, action }, body: {}, headers });
}

async function activateOn(kernel: StartedKernel, tenant: string, epoch: number): Promise<void> {
  await kernel.context.policies.activate(signedActivation(kernel, { tenant, bundle: starterPolicy, epoch }));
}

async function deadlocks(): Promise<number> {
  const { rows } = await run('SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()');
  return rows[0]?.['deadlocks'] ?? -1;
}
