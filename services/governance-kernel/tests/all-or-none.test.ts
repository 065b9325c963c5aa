import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { ApprovalId, Digest, Instant, PrincipalId, SessionId, TenantId } from '@countersign/contracts';
import { announcementStatement } from '@countersign/receipts';
import { verifies } from '@countersign/testkit/verifies';
import type { NamedCall } from '../src/call/governed-call.ts';
import { asAdministrator } from './_administrator.ts';
import { send, Caller, newSession, refusal, answerOf } from './_caller.ts';
import { decideAndDie, spawnedAgent } from './_dispatched.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';

let test: TestKernel;
let agent: Caller, alice: Caller;
beforeAll(async () => {
  test = await startTestKernel();
  await test.activate('*', starterPolicy);
  agent = new Caller(test);
  alice = new Caller(test, 'acme', 'alice');
  await test.as('acme').putBudget({
    params: { budget_id: 'calls' }, // matches the schema
    body: { subject: 'tenant', window: 'total', tool_call_limit: 1_000 } as never,
  });
});
afterAll(() => test.close());

/** The tables that an allowed call of the kernel writes. Below: the tables that a vote on an approval writes. */
const ofDecision = [
  'ledger',
  'session_heads',
  'log_head',
  'budgets',
  'approvals',
  'dispatches',
  'idempotency_keys',
] as const;
const ofVote = ['ledger', 'session_heads', 'log_head', 'approvals', 'outbox'] as const;
const tables = [...ofDecision, 'outbox'] as const;
type Table = (typeof tables)[number];

/** A digest of each table, to detect any change. For events it covers only the envelope, not the state of sending. */
async function content(): Promise<Record<string, string>> {
  const { pool } = test;
  const read = async (table: Table): Promise<[Table, string]> => {
    const row = table === 'outbox' ? 't.envelope' : 't::text';
    const { rows } = await pool.query<{ digest: string | null }>(
      `SELECT md5(string_agg(${row}, ' ' ORDER BY ${row})) AS digest FROM ${table} t`,
    );
    return [table, rows[0]?.digest ?? 'empty'];
  };
  return Object.fromEntries(await Promise.all(tables.map(read)));
}

/** Runs `work` while PostgreSQL refuses every row that is written to the table. */
async function whileRefused(table: Table, work: () => Promise<void>): Promise<void> {
  await asAdministrator(test, `ALTER TABLE ${table} ADD CONSTRAINT refuse_all CHECK (false) NOT VALID`);
  try {
    await work();
  } finally {
    await asAdministrator(test, `ALTER TABLE ${table} DROP CONSTRAINT refuse_all`);
  }
}

const payment = { kind: 'custom', action: 'money.transfer', tool: null, resource: null, effectLevel: 'E4' } as const;

/**
 * Requests a payment that a person then approves. When the kernel dispatches it, the decision writes a budget, a use of
 * the approval and a dispatch.
 */
async function approvedPayment(): Promise<{ session: SessionId; grant: ApprovalId; key: string }> {
  const session = newSession();
  const grant = send(await agent.decide({ action: payment.action, session_id: session }));
  await alice.move('approve', grant);
  return { session, grant, key: `key-${session}` };
}

type Payment = Awaited<ReturnType<typeof approvedPayment>>;

function byKernel({ session, grant, key }: Payment): NamedCall {
  const idempotency = { key, route: 'test', fingerprint: key };
  const call = spawnedAgent({ session, approvalGrant: grant, idempotency });
  return { ...call, ...payment };
}

const hash = `sha256:${'0'.repeat(64)}` as Digest;
const announced = {
  at: '2026-11-21T10:00:00.000Z' as Instant,
  principal: 'agent' as PrincipalId, // they match their schemas
  kind: 'policy' as const,
  action: 'policy.change',
  ...{ tool: null, resource: null, effectLevel: 'E3' as const, verdict: 'ALLOW' as const },
  reasonCode: 'ALLOWED' as const,
  ...{ argsHash: hash, policyHash: hash, policyEpoch: 1, approvalId: null },
};

describe('a write that the database refuses', () => {
  for (const table of ofDecision) {
    verifies('kn.atomic', `to ${table} rolls back the whole decision, and the retry takes effect once`, async () => {
      const { boundary } = test.kernel.context;
      const call = byKernel(await approvedPayment());
      const before = await content();
      await whileRefused(table, async () => {
        expect(await refusal(decideAndDie(boundary, call))).toBe('RECEIPT_STORE_UNAVAILABLE');
        expect(await content()).toEqual(before);
      });
      const decision = await decideAndDie(boundary, call);
      expect([decision.reply.verdict, decision.replayed]).toEqual(['ALLOW', false]);
      const after = await content();
      expect(tables.filter((name) => after[name] !== before[name])).toEqual(ofDecision);
      expect((await decideAndDie(boundary, call)).replayed).toBe(true);
      expect(await content()).toEqual(after);
    });
  }

  verifies('kn.atomic', 'rolls back the whole vote on an approval, and the call stays escalated', async () => {
    for (const table of ofVote) {
      const call = { tool: 'pay.send', session_id: newSession() };
      const id = send(await agent.decide(call));
      const before = await content();
      await whileRefused(table, async () => {
        expect(await refusal(alice.move('approve', id))).toBe('RECEIPT_STORE_UNAVAILABLE');
        expect([table, await content()]).toEqual([table, before]);
      });
      expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
      expect(await alice.move('approve', id)).toMatchObject({ state: 'approved' });
    }
  });

  verifies('kn.atomic', 'or that cannot be serialized rolls back the whole entry', async () => {
    const { ledger, newUlid, provider } = test.kernel.context;
    const chain = { tenant: 'acme' as TenantId, session: newSession() };
    const before = await content();
    const sealed = ledger.submit({
      chain,
      wants: [],
      conclude: (batch) => {
        const data = { receipt_id: 1n }; // JSON cannot represent a bigint
        const unwritable = { event: { id: 'unwritable', type: 'unwritable', data }, needsConsumer: false } as never;
        const statement = announcementStatement(provider, { ...announced, ...chain, ulid: newUlid(0) });
        batch.seal(statement, () => ({ events: [unwritable] }));
        return () => null;
      },
    });
    expect(await refusal(sealed)).toBe('RECEIPT_STORE_UNAVAILABLE');
    expect(await content()).toEqual(before);
  });
});
