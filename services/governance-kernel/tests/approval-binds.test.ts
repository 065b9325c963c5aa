import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { ApprovalId, TenantId } from '@countersign/contracts';
import { nodeProvider } from '@countersign/crypto/node';
import { verifies } from '@countersign/testkit/verifies';
import { verifyRecord } from '@countersign/verifier';
import { withCeremonyHash } from '../src/controls/approvals/ceremony.ts';
import { getApproval } from '../src/store/approval-store.ts';
import { asAdministrator } from './_administrator.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf, type Call } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: judged
version: '1'
rules:
  - { id: transfers, effect: escalate, match: { action: [money.transfer] }, reason: A person confirms transfers. }
  - { id: chats, effect: escalate, match: { action: [message.send] }, when: "context.channel != 'drafts'" }
  - { id: nights, effect: escalate, match: { action: [door.open] }, when: "now > timestamp('2026-01-01T00:00:00Z')" }
  - { id: two, effect: escalate, match: { action: [vault.open] }, approval: { quorum: 2 } }
`;

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
let agent: Caller, alice: Caller, bob: Caller;
beforeEach(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('*', policy);
  [agent, alice, bob] = [new Caller(test), new Caller(test, 'acme', 'alice'), new Caller(test, 'acme', 'bob')];
});
afterEach(() => test.close());

const secret = 'the account of Ada Lovelace';
const transfer = (changes: Call = {}) => ({
  action: 'money.transfer',
  effect_level: 'E3',
  args: { to: secret },
  demand: { spend_minor: 101 },
  session_id: newSession(),
  ...changes,
});

const sentBytes = (args: unknown) => Buffer.byteLength(JSON.stringify(args));

describe('an approval', () => {
  verifies(
    'kn.approve.loop',
    'for an amount of 101 does not cover 999,999,999, which needs its own approval',
    async () => {
      const call = transfer();
      const id = send(await agent.decide(call));
      await alice.move('approve', id);
      const dearer = { ...call, demand: { spend_minor: 999_999_999 } };
      const question = await agent.decide(dearer);
      expect(answerOf(question)).toBe('ESCALATE APPROVAL_REQUIRED');
      expect(send(question)).not.toBe(id);
      expect(answerOf(await agent.decide({ ...dearer, approval_grant: id }))).toBe('DENY APPROVAL_MISMATCH');
      expect(await alice.approval(id)).toMatchObject({ state: 'approved', uses_remaining: 1 });
      expect(answerOf(await agent.decide({ ...call, approval_grant: id }))).toBe('ALLOW ALLOWED');
    },
  );

  verifies('kn.approve.loop', 'that is pending is reused only by a call with the same demand', async () => {
    const call = transfer();
    const first = send(await agent.decide(call));
    expect(send(await agent.decide({ ...call, demand: { spend_minor: 102 } }))).not.toBe(first);
    expect(send(await agent.decide(call))).toBe(first);
  });

  verifies('kn.approve.loop', 'does not cover a different effect, demand or fact that the policy read', async () => {
    const message = { action: 'message.send', effect_level: 'E2', context: { channel: 'mail', mood: 'calm' } };
    const call = { ...message, args: {}, session_id: newSession() };
    const id = send(await agent.decide(call));
    await alice.move('approve', id);
    const others: Call[] = [
      { effect_level: 'E1' },
      { effect_level: 'E4' },
      { demand: { egress_bytes: 1_000 } },
      { context: { channel: 'press' } },
    ];
    for (const second of others) {
      const changed = { ...call, ...second };
      expect([second, answerOf(await agent.decide(changed))]).toEqual([second, 'ESCALATE APPROVAL_REQUIRED']);
      expect(answerOf(await agent.decide({ ...changed, approval_grant: id }))).toBe('DENY APPROVAL_MISMATCH');
    }
    // Members that no rule reads are not judged.
    const unread = { ...call, context: { channel: 'mail', mood: 'wild' } };
    expect(answerOf(await agent.decide({ ...unread, approval_grant: id }))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.approve.loop', 'under a policy that reads the clock stays valid while time passes', async () => {
    const call = { action: 'door.open', effect_level: 'E2', session_id: newSession() };
    const id = send(await agent.decide(call));
    await alice.move('approve', id);
    time.advance(60_000);
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.approve.loop', 'that is requested beforehand covers the same values as any other', async () => {
    const call = transfer({ action: 'message.send', context: { channel: 'mail' } });
    const { body } = await agent.client.createApproval({ body: { ...call, reason: 'the monthly one' } as never });
    await alice.move('approve', body.approval_id);
    const grant = { approval_grant: body.approval_id };
    for (const second of [{ demand: { spend_minor: 102 } }, { context: { channel: 'press' } }, { effect_level: 'E4' }])
      expect(answerOf(await agent.decide({ ...call, ...second, ...grant }))).toBe('DENY APPROVAL_MISMATCH');
    expect(answerOf(await agent.decide({ ...call, ...grant }))).toBe('ALLOW ALLOWED');
  });

  verifies(
    'kn.approve.loop',
    'is requested in a record with the judged values, and the record does not verify with a different demand',
    async () => {
      await setBudget(1_000);
      const call = transfer();
      const reply = await agent.decide(call);
      const [sealed] = await ledgerOf(test, call.session_id);
      const approval = await alice.approval(send(reply));
      const { record } = sealed ?? {};
      expect(record).toMatchObject({
        demand: { tool_calls: 1, spend_micros: '101000000', egress_bytes: sentBytes(call.args), writes: 1 },
        budgets: [{ budget_id: 'transfers', spend_remaining_micros: '1000000000', tool_calls_remaining: null }],
        judged_hash: approval.judged_hash,
      });
      const { log_index: _index, receipt_hash: _hash, ...receipt } = reply.receipt;
      expect(verifyRecord(record, receipt, nodeProvider).judged_hash).toBe(approval.judged_hash);
      const changed = { ...record, demand: { ...record?.demand, spend_micros: '999999999000000' } };
      expect(() => verifyRecord(changed, receipt, nodeProvider)).toThrow(
        expect.objectContaining({ code: 'RECORD_HASH_MISMATCH' }),
      );
    },
  );
});

describe('an approver', () => {
  verifies('kn.approve.loop', 'sees effect, demand, facts, arguments and the reason of the policy', async () => {
    const call = transfer({ action: 'message.send', context: { channel: 'mail' }, args: { to: secret } });
    const id = send(await agent.decide(call));
    expect(await alice.approval(id)).toMatchObject({
      effect_level: 'E3',
      demand: { tool_calls: 1, spend_micros: '101000000', egress_bytes: sentBytes(call.args), writes: 1 },
      facts: { 'context.channel': 'mail' },
      args: { to: secret },
    });
    expect((await alice.approval(send(await agent.decide(transfer())))).reason).toBe('A person confirms transfers.');
  });

  it('decides on exactly what is shown: the ceremony hash covers the judged values and the reason', async () => {
    const id = send(await agent.decide(transfer()));
    const row = await getApproval(test.kernel.context.reader, { tenant: 'acme' as TenantId, id });
    const hashOf = (changes: object) => withCeremonyHash(nodeProvider, { ...row, ...changes }).ceremonyHash;
    expect(hashOf({})).toBe(row.ceremonyHash);
    expect(hashOf({ judgedHash: `sha256:${'1'.repeat(64)}` })).not.toBe(row.ceremonyHash);
    expect(hashOf({ reason: 'It is only a test.' })).not.toBe(row.ceremonyHash);
  });

  it('still sees the arguments while further votes are needed', async () => {
    const id = send(await agent.decide(transfer({ action: 'vault.open' })));
    expect(await alice.move('approve', id)).toMatchObject({ state: 'pending' });
    expect((await alice.approval(id)).args).toEqual({ to: secret });
    expect(await bob.decideOnPage(id)).toMatchObject({ state: 'approved', args: null });
    expect(await stored(id)).toBeNull();
  });
});

describe('the arguments of an approval', () => {
  const question = async () => send(await agent.decide(transfer()));

  verifies('kn.approve.loop', 'are encrypted while it is pending, and deleted in every later state', async () => {
    const endings: Record<string, (id: ApprovalId) => Promise<unknown>> = {
      approved: (id) => alice.move('approve', id),
      denied: (id) => alice.move('deny', id),
      revoked: (id) => alice.move('revoke', id),
      expired: async (id) => {
        time.advance(15 * 60_000);
        expect(await alice.approval(id)).toMatchObject({ state: 'expired', args: null });
        await test.kernel.workers.housekeeper.run();
      },
    };
    for (const [state, end] of Object.entries(endings)) {
      const id = await question();
      const encrypted = await stored(id);
      expect(Buffer.from(encrypted ?? '', 'base64').toString('latin1')).not.toContain('Ada');
      expect(encrypted?.length).toBeGreaterThan(secret.length);
      await end(id);
      expect(await alice.approval(id)).toMatchObject({ state, args: null });
      expect([state, await stored(id)]).toEqual([state, null]);
    }
    const { rows } = await test.pool.query(`SELECT 1 FROM ledger WHERE record LIKE '%${secret}%'`);
    expect(rows).toEqual([]);
  });

  it('that are too long for a person to read are refused, and no approval is requested', async () => {
    const session_id = newSession();
    const call = agent.decide(transfer({ args: { text: 'x'.repeat(300_000) }, session_id }));
    expect(await refusal(call)).toBe('PAYLOAD_TOO_LARGE');
    expect(await ledgerOf(test, session_id)).toEqual([]);
  });

  it('are in no answer that is stored for an Idempotency-Key', async () => {
    const body = { ...transfer(), reason: 'asked beforehand' } as never; // plain strings instead of branded ones
    const headers = { 'idempotency-key': `key-${newSession()}` };
    const asking = await agent.client.createApproval({ body, headers });
    expect([asking.body.state, asking.body.args]).toEqual(['pending', null]);
    const { rows } = await test.pool.query(`SELECT 1 FROM idempotency_keys k WHERE k::text LIKE '%${secret}%'`);
    expect(rows).toEqual([]);
  });

  it('cannot remain in an approval that is no longer pending', async () => {
    const id = await question();
    const decided = asAdministrator(test, `UPDATE approvals SET state = 'approved' WHERE approval_id = $1`, [id]);
    await expect(decided).rejects.toThrow('approvals_args_while_pending');
  });

  verifies('kn.approve.loop', 'cannot be read by another tenant, or after a copy into another approval', async () => {
    const id = await question();
    expect((await test.as('globex', 'mallory').listApprovals()).body.data).toEqual([]);
    const elsewhere = [
      send(await agent.decide(transfer({ session_id: newSession() }))),
      send(await new Caller(test, 'globex').decide(transfer())),
    ];
    for (const [tenant, neighbour] of [
      ['acme', elsewhere[0]],
      ['globex', elsewhere[1]],
    ] as const) {
      const moved = 'args_encrypted = (SELECT args_encrypted FROM approvals WHERE approval_id = $1)';
      await asAdministrator(test, `UPDATE approvals SET ${moved} WHERE approval_id = $2`, [id, neighbour]);
      const { data } = (await test.as(tenant, 'alice').listApprovals()).body;
      expect(data.find(({ approval_id }) => approval_id === neighbour)).toMatchObject({ state: 'pending', args: null });
    }
  });
});

async function stored(id: ApprovalId): Promise<string | null> {
  const found = await test.pool.query<{ args_encrypted: string | null }>(
    'SELECT args_encrypted FROM approvals WHERE approval_id = $1',
    [id],
  );
  return found.rows[0]?.args_encrypted ?? null;
}

async function setBudget(spendLimitMinor: number): Promise<void> {
  await test.as('acme').putBudget({
    params: { budget_id: 'transfers' },
    body: {
      ...{ subject: 'tenant', window: 'total', currency: 'EUR', spend_limit_minor: spendLimitMinor },
      ...{ tool_call_limit: null, egress_limit_bytes: null, write_limit: null, approval_required_above_minor: null },
    } as never,
  });
}
