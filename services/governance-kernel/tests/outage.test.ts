import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, type SessionId } from '@countersign/contracts';
import type { EvaluateRequest } from '@countersign/contracts/governance-kernel';
import { createTcpProxy, type TcpProxy } from '@countersign/testkit/tcp-proxy';
import { verifies } from '@countersign/testkit/verifies';
import { untilReachable } from '@countersign/testkit/until';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { ledgerOf, refusal } from './_caller.ts';
import { spawnedAgent } from './_dispatched.ts';
import { adminKey, kernelRoutes, poolOf, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { ledgerStatementsOf } from './_statements.ts';

/** A kernel whose connection to PostgreSQL can be cut, and another kernel with a stable connection. */
let test: TestKernel;
let proxy: TcpProxy;
let kernel: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  const direct = new URL(test.env['DATABASE_URL'] ?? '');
  proxy = await createTcpProxy({ host: direct.hostname, port: Number(direct.port || 5432) });
  const through = new URL(direct);
  through.host = `127.0.0.1:${proxy.port}`;
  kernel = await startKernel(kernelConfigFrom({ ...test.env, DATABASE_URL: through.href }));
});
afterAll(async () => {
  await kernel.stop();
  await proxy.close();
  await test.close();
});

const body = {
  action: 'tool.call',
  tool: 'files.read',
  effect_level: 'E1',
  session_id: 'outage' as SessionId,
} as EvaluateRequest;
const client = () =>
  createClient(kernelRoutes, {
    baseUrl: kernel.url,
    headers: () => ({ authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': 'acme' }),
  });

const sealedCount = async () =>
  Number(
    (await test.pool.query<{ count: string }>("SELECT count(*) FROM ledger WHERE tenant_id = 'acme'")).rows[0]?.count,
  );

describe('a kernel without PostgreSQL', () => {
  verifies('kn.fc.receipt', 'answers 503, allows nothing, writes nothing, and recovers without a restart', async () => {
    await client().evaluate({ body });
    const before = await sealedCount();
    proxy.cut();
    const refused = await Promise.allSettled(Array.from({ length: 20 }, () => client().evaluate({ body })));
    const codes = refused.map((result) =>
      result.status === 'rejected' ? (result.reason as { code: string }).code : result.value.body.verdict,
    );
    expect(new Set(codes)).toEqual(new Set(['RECEIPT_STORE_UNAVAILABLE']));
    expect(await sealedCount()).toBe(before);
    proxy.restore();
    await untilReachable(async () => (await client().evaluate({ body })).body.allow);
  });

  it('sends fewer statements than there are waiting calls when PostgreSQL does not respond', async () => {
    proxy.swallow();
    const callers = 30;
    const sent = await ledgerStatementsOf(poolOf(kernel), async () => {
      const waiting = Array.from({ length: callers }, () => refusal(client().evaluate({ body })));
      expect(new Set(await Promise.all(waiting))).toEqual(new Set(['RECEIPT_STORE_UNAVAILABLE']));
    });
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThan(callers); // two, if all others wait for the first connection
    proxy.restore();
    await untilReachable(async () => (await client().evaluate({ body })).body.allow);
  });

  it('is alive but not ready', async () => {
    proxy.cut();
    expect((await fetch(`${kernel.healthUrl}/health/ready`)).status).toBe(503);
    expect((await fetch(`${kernel.healthUrl}/health/live`)).status).toBe(200);
    proxy.restore();
    await untilReachable(async () => (await fetch(`${kernel.healthUrl}/health/ready`)).ok);
  });
});

describe('an outcome during an outage of PostgreSQL', () => {
  verifies('kn.budget', 'is sealed unchanged when the database is back, and counts in budgets', async () => {
    const session = 'outage-outcome' as SessionId;
    await test.as('acme').putBudget({
      params: { budget_id: 'calls' },
      body: {
        subject: 'principal:spawner',
        window: 'total',
        currency: null,
        spend_limit_minor: null,
        tool_call_limit: 5,
        egress_limit_bytes: null,
        write_limit: null,
        approval_required_above_minor: null,
      },
    });
    const { dispatch, log } = kernel.context;
    const { reconciler } = kernel.workers;
    const performed = await dispatch
      .to(async () => proxy.cut())
      .perform({
        call: spawnedAgent({ principal: 'spawner', session }),
        request: null,
        receive: () => ({ outcome: 'completed', result: 'done' }),
        failed: { outcome: 'uncertain' },
        log,
      });
    expect(performed).toMatchObject({ kind: 'performed', result: 'done', receipt: null });
    proxy.restore();
    await untilReachable(async () => (await client().evaluate({ body })).body.allow);
    await reconciler.run();
    expect((await ledgerOf(test, session)).map(({ payload }) => payload.outcome)).toEqual([undefined, 'completed']);
    const { body: budgets } = await test.as('acme').listBudgets();
    expect(budgets.data[0]).toMatchObject({ used: { tool_calls: 1 }, reserved: { tool_calls: 0 } });
  });
});

describe('several kernels on one database', () => {
  verifies('kn.restart', 'share one chain without a gap or a fork, even after a restart', async () => {
    const [own, second] = [client(), test.as('acme')];
    const session_id = 'replicas' as SessionId;
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, turn) =>
        (turn % 2 === 0 ? own : second).evaluate({ body: { ...body, session_id } }),
      ),
    );
    await test.restart();
    replies.push(await test.as('acme').evaluate({ body: { ...body, session_id } }));
    const clocks = replies.map((reply) => reply?.body.lamport_clock ?? 0).sort((a, b) => a - b);
    expect(clocks).toEqual(Array.from({ length: 61 }, (_, index) => index + 1));
    const indexes = new Set(replies.map((reply) => reply?.body.log_index));
    expect(indexes.size).toBe(61);
  });
});
