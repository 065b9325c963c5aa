import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { createClient, type RecordId, type SessionId, type TenantId } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { settleAbandoned } from '../src/decision/settle-abandoned.ts';
import { trustedKeysOf } from '../src/evidence/proof/trusted-keys.ts';
import { verifySealedRecord } from '../src/evidence/proof/verify-sealed-record.ts';
import { findNeighbours, findSealedRecord } from '../src/store/record-store.ts';
import { listTrustKeys } from '../src/store/trust-key-store.ts';
import { movableClock } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { kernelRoutes, serviceKey, starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { signedBody } from './_policies.ts';
import { newSession, seal } from './_seal.ts';
import { ofNoTwin } from './_twins.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
const tenants = ['first', 'second'];
let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

/** Seals three decisions of each tenant in a session with the same name, in alternation. */
async function chains(session_id: SessionId) {
  const sealed: { tenant: string; record_id: string }[] = [];
  for (let place = 0; place < 3; place += 1)
    for (const tenant of tenants)
      sealed.push({ tenant, record_id: (await seal(test, { tenant, session_id })).record_id });
  return sealed;
}

/** The reservations of calls in progress. */
async function reservedCalls(): Promise<unknown[]> {
  const { rows }: { rows: unknown[] } = await test.pool.query(
    `SELECT tenant_id, reserved_tool_calls::int AS reserved FROM budgets
      WHERE budget_id = 'shared' AND ${ofNoTwin} ORDER BY tenant_id`,
  );
  return rows;
}

/** Activates or confirms a policy through the route for operators. */
async function putBundle(tenant: string) {
  const system = createClient(kernelRoutes, {
    baseUrl: test.kernel.url,
    headers: () => ({ authorization: `Bearer ${serviceKey}`, 'x-gov-principal-id': 'operator' }),
  });
  return (
    await system.putPolicyBundle({
      params: { tenant: tenant },
      body: signedBody(test.kernel, { tenant, bundle: starterPolicy, epoch: 1 }),
    })
  ).body;
}

describe('two tenants that use the same names', () => {
  verifies('kn.tenants', 'verify every record of their own chains', async () => {
    for (const { tenant, record_id } of await chains(newSession())) {
      const { body } = await test.as(tenant).verifyRecord({ params: { record_id: record_id } });
      expect([tenant, body.checks.filter(({ passed }) => !passed)]).toEqual([tenant, []]);
    }
  });

  verifies('kn.tenants', "cannot present each other's receipts as neighbours in a chain", async () => {
    const { reader, provider, config, checkpoints } = test.kernel.context;
    const session = newSession();
    const { record_id } = (await chains(session))[3] ?? {}; // the second record of the second tenant
    const [sealed, neighbours, keys, checkpoint] = await Promise.all([
      findSealedRecord(reader, 'second' as TenantId, record_id as RecordId),
      findNeighbours(reader, 'first' as TenantId, { session, lamport: 2 }),
      listTrustKeys(reader),
      checkpoints.create(),
    ]);
    if (sealed === null) throw new Error('it was not sealed');
    const trust = { trust: trustedKeysOf(keys), provider, origin: config.logOrigin };
    const checks = verifySealedRecord({ ...sealed, neighbours, checkpoint, path: null }, trust);
    const ofChain = checks.filter(({ check }) => check.startsWith('chain_'));
    expect(ofChain.map(({ check, code }) => [check, code])).toEqual([
      ['chain_previous', 'CHAIN_GAP'],
      ['chain_next', 'CHAIN_GAP'],
    ]);
  });

  verifies('kn.budget', 'use up only their own budget, also in one batch and when a call is settled', async () => {
    const limits = { first: 3, second: 5 };
    for (const [tenant, limit] of Object.entries(limits))
      await test.as(tenant).putBudget({
        params: { budget_id: 'shared' },
        body: { subject: 'principal:counted', window: 'total', tool_call_limit: limit } as never, // unbranded strings
      });
    const { boundary, cycle } = test.kernel.context;
    const call = (tenant: string) => spawnedAgent({ tenant, principal: 'counted', session: newSession() });
    const decided = await Promise.all(
      Array.from({ length: 6 }, () => tenants.map((tenant) => decideAndDie(boundary, call(tenant)))).flat(),
    );
    expect(await reservedCalls()).toEqual([
      { tenant_id: 'first', reserved: 3 },
      { tenant_id: 'second', reserved: 5 },
    ]);
    const allowed = decided.filter(({ reply }) => reply.verdict === 'ALLOW');
    for (const { reply, reserved } of allowed.filter(({ reply: { receipt } }) => receipt.payload.tenant_id === 'first'))
      await settleAbandoned(cycle, { decided: reply.receipt.payload, reserved });
    expect(await reservedCalls()).toEqual([
      { tenant_id: 'first', reserved: 0 },
      { tenant_id: 'second', reserved: 5 },
    ]);
  });

  verifies('kn.idempotent', 'get their own answers for the same idempotency key and principal', async () => {
    const session_id = newSession();
    const ask = async (tenant: string) => {
      const body = { action: 'tool.call', tool: 'files.read', effect_level: 'E1', session_id } as never; // unbranded
      const headers = { 'idempotency-key': 'one-key' };
      return (await test.as(tenant, 'agent').evaluate({ body, headers })).body.receipt.payload;
    };
    const values = await Promise.all([...tenants, ...tenants].map(ask));
    expect(values.map(({ tenant_id, lamport_clock }) => [tenant_id, lamport_clock])).toEqual(
      [...tenants, ...tenants].map((tenant) => [tenant, 1]),
    );
    expect(new Set(values.map(({ receipt_id }) => receipt_id)).size).toBe(2);
  });

  verifies('kn.tenants', 'have their own activation times, and each confirms only its own policy', async () => {
    const activated: string[] = [];
    for (const tenant of tenants) {
      activated.push((await putBundle(tenant)).activated_at);
      time.advance(60_000);
    }
    expect(new Set(activated).size).toBe(2);
    for (const [at, tenant] of tenants.entries()) {
      const confirmed = await putBundle(tenant);
      expect(confirmed).toMatchObject({ tenant_id: tenant, activated_at: activated[at] });
      expect(confirmed.confirmed_at).toBe(time.clock().toISOString());
      const { rows } = await test.pool.query('SELECT tenant_id FROM policy_heads WHERE confirmed_at = $1', [
        time.clock(),
      ]);
      expect(rows).toEqual([{ tenant_id: tenant }]);
      time.advance(60_000);
    }
  });
});
