import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { policyReplaced } from '../src/controls/approvals/expire.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';

const policy = (version: string) => `
format: countersign/policy.v1
name: approvals
version: '${version}'
rules:
  - { id: payments, effect: escalate, match: { tool: [pay.*] } }
  - { id: rents, effect: escalate, match: { tool: [rent] }, approval: { scope: 'uses:2', timeout: 3600 } }
  - { id: transfers, effect: escalate, match: { tool: [transfer] }, approval: { approvers: [cfo] } }
  - { id: notes, effect: escalate, match: { tool: [note], effect_level: [E2, E4] } }
  - { id: free-notes, effect: allow, match: { tool: [note], effect_level: [E1] } }
tools:
  note: { effect_level: E1 }
  pay.send: { effect_level: E4, says: 'pay {amount}' }
`;

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
let agent: Caller, alice: Caller;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  await test.activate('*', policy('1'));
  agent = new Caller(test);
  alice = new Caller(test, 'acme', 'alice');
});
afterAll(() => test.close());

const payment = () => ({ tool: 'pay.send', args: { amount: 5 }, session_id: newSession() });
const minuteMs = 60_000;

async function approved(call: ReturnType<typeof payment>) {
  const id = send(await agent.decide(call));
  await alice.move('approve', id);
  return id;
}

describe('the approval loop', () => {
  verifies('kn.approve.loop', 'allows an approved call once, with or without a presented grant', async () => {
    for (const present of [false, true]) {
      const call = payment();
      const question = await agent.decide(call);
      const id = send(question);
      expect(answerOf(question)).toBe('ESCALATE APPROVAL_REQUIRED');
      expect(send(await agent.decide(call))).toBe(id);
      expect(await alice.move('approve', id)).toMatchObject({ state: 'approved', approved_by: ['alice'] });
      const repeat = { ...call, ...(present ? { approval_grant: id } : {}) };
      const allowed = await agent.decide(repeat);
      expect([answerOf(allowed), allowed.receipt.payload.approval_id]).toEqual(['ALLOW ALLOWED', id]);
      expect(answerOf(await agent.decide(repeat))).toBe(
        present ? 'DENY APPROVAL_CONSUMED' : 'ESCALATE APPROVAL_REQUIRED',
      );
      expect(await alice.approval(id)).toMatchObject({ state: 'consumed', uses_remaining: 0 });
    }
  });

  verifies('kn.approve.loop', 'names an approval in an ALLOW only when this call uses it', async () => {
    const call = payment();
    const id = await approved(call);
    const shadow = await agent.decide({ ...call, approval_grant: id, mode: 'shadow' });
    const needless = await agent.decide({ ...call, tool: 'note', effect_level: 'E1', approval_grant: id });
    for (const reply of [shadow, needless])
      expect([answerOf(reply), reply.receipt.payload.approval_id]).toEqual(['ALLOW ALLOWED', undefined]);
    const sealed = await ledgerOf(test, call.session_id);
    expect(sealed.slice(-2).map(({ record }) => [record?.approval_id, record?.dispatched_by])).toEqual([
      [null, 'caller'],
      [null, 'caller'],
    ]);
    expect((await agent.decide({ ...call, approval_grant: id })).receipt.payload.approval_id).toBe(id);
  });

  verifies('kn.approve.loop', 'allows exactly one of twenty parallel repetitions', async () => {
    const call = payment();
    const id = await approved(call);
    const repeats = await Promise.all(Array.from({ length: 20 }, () => agent.decide({ ...call, approval_grant: id })));
    expect(repeats.map(answerOf).sort()).toEqual(
      ['ALLOW ALLOWED', ...Array<string>(19).fill('DENY APPROVAL_CONSUMED')].sort(),
    );
  });

  verifies('kn.approve.loop', 'does not allow a call that differs from the approved one', async () => {
    const call = payment();
    const id = await approved(call);
    const others = [
      { ...call, args: { amount: 6 } },
      { ...call, tool: 'pay.refund' },
      { ...call, resource: 'account:7' },
      { ...call, session_id: newSession() },
      { ...call, action: 'connector.invoke' },
    ];
    for (const second of others) {
      expect(answerOf(await agent.decide(second))).toBe('ESCALATE APPROVAL_REQUIRED');
      expect(answerOf(await agent.decide({ ...second, approval_grant: id }))).toBe('DENY APPROVAL_MISMATCH');
    }
    const grant = { ...call, approval_grant: id };
    expect(answerOf(await new Caller(test, 'acme', 'other-agent').decide(grant))).toBe('DENY APPROVAL_MISMATCH');
    expect(answerOf(await new Caller(test, 'globex', 'agent').decide(grant))).toBe('DENY APPROVAL_MISMATCH');
    expect(answerOf(await agent.decide(grant))).toBe('ALLOW ALLOWED');
  });

  verifies('kn.approve.loop', 'does not allow a higher effect level than the approved one', async () => {
    const call = { ...payment(), tool: 'note', effect_level: 'E2' };
    const id = send(await agent.decide(call));
    await alice.move('approve', id);
    expect(answerOf(await agent.decide({ ...call, effect_level: 'E4' }))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(answerOf(await agent.decide({ ...call, effect_level: 'E4', approval_grant: id }))).toBe(
      'DENY APPROVAL_MISMATCH',
    );
    expect(answerOf(await agent.decide({ ...call, effect_level: 'E1' }))).toBe('ALLOW ALLOWED');
    expect(await alice.approval(id)).toMatchObject({ state: 'approved', uses_remaining: 1 });
  });

  verifies('kn.approve.loop', 'allows nothing under an expired approval or an expired request', async () => {
    const [values, open] = [payment(), payment()];
    const id = await approved(values);
    const question = send(await agent.decide(open));
    time.advance(15 * minuteMs);
    expect(answerOf(await agent.decide({ ...values, approval_grant: id }))).toBe('DENY APPROVAL_EXPIRED');
    expect(answerOf(await agent.decide({ ...open, approval_grant: question }))).toBe('DENY APPROVAL_EXPIRED');
    expect(send(await agent.decide(values))).not.toBe(id);
    expect(await alice.approval(question)).toMatchObject({ state: 'expired' });
    const overdue = send(await agent.decide(payment()));
    time.advance(15 * minuteMs);
    // Nothing has changed `overdue` since it expired. The list must contain it as expired.
    const { data } = (await alice.client.listApprovals({ query: { state: 'expired', limit: 2 } })).body;
    expect(data.map(({ approval_id }) => approval_id)).toContain(overdue);
    expect(data).toHaveLength(2);
    expect(data.map(({ approval_id }) => approval_id)).toEqual(
      data
        .map(({ approval_id }) => approval_id)
        .sort()
        .reverse(),
    );
    expect(await refusal(alice.move('approve', question))).toBe('ILLEGAL_TRANSITION');
    const { rows } = await test.pool.query('SELECT state FROM approvals WHERE approval_id = $1', [question]);
    expect(rows).toEqual([{ state: 'expired' }]);
    const sealed = await ledgerOf(test, open.session_id);
    expect(sealed.at(-1)?.payload).toMatchObject({
      kind: 'approval',
      action: 'approval.expire',
      reason_code: 'APPROVAL_EXPIRED',
    });
  });

  it('notifies waiting callers of an expiry that the housekeeper found', async () => {
    const call = payment();
    const id = send(await agent.decide(call));
    time.advance(15 * minuteMs);
    await test.kernel.workers.housekeeper.run();
    const message = 'SELECT envelope FROM outbox WHERE envelope LIKE $1 ORDER BY position';
    const { rows } = await test.pool.query<{ envelope: string }>(message, [`%${id}%`]);
    expect(rows.map(({ envelope }): unknown => JSON.parse(envelope))).toMatchObject([
      { type: 'kernel.approval.requested.v1', data: { requested_by: 'agent', quorum: 1 } },
      { data: { state: 'expired' } },
    ]);
    expect((await ledgerOf(test, call.session_id)).at(-1)?.payload.action).toBe('approval.expire');
  });

  verifies('kn.approve.loop', 'allows nothing under a revoked or denied approval', async () => {
    const [withdrawn, refused] = [payment(), payment()];
    const id = await approved(withdrawn);
    expect(await alice.move('revoke', id)).toMatchObject({ state: 'revoked' });
    expect(answerOf(await agent.decide({ ...withdrawn, approval_grant: id }))).toBe('DENY APPROVAL_REJECTED');
    const question = send(await agent.decide(refused));
    expect(await alice.move('deny', question)).toMatchObject({ state: 'denied', approved_by: [] });
    expect(answerOf(await agent.decide({ ...refused, approval_grant: question }))).toBe('DENY APPROVAL_REJECTED');
    expect(await refusal(alice.move('approve', question))).toBe('ILLEGAL_TRANSITION');
  });

  verifies('kn.approve.loop', 'refuses votes of the requester and of other tenants', async () => {
    const call = payment();
    const id = send(await agent.decide(call));
    expect(await refusal(agent.move('approve', id))).toBe('PERMISSION_DENIED');
    expect(await refusal(agent.move('deny', id))).toBe('PERMISSION_DENIED');
    const { ceremony_hash: hash } = await alice.approval(id);
    const input = { params: { approval_id: id, action: 'approve' as const }, body: { expected_ceremony_hash: hash } };
    expect(await refusal(test.as('globex', 'alice').transitionApproval(input))).toBe('NOT_FOUND');
    expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  verifies('kn.approve.loop', 'allows nothing under an approval of a replaced policy', async () => {
    const tenant = 'changing';
    const [caller, approver] = [new Caller(test, tenant), new Caller(test, tenant, 'alice')];
    await test.activate(tenant, policy('1'));
    const call = payment();
    const id = send(await caller.decide(call));
    await approver.move('approve', id);
    await test.activate(tenant, policy('2'), 2);
    expect(answerOf(await caller.decide({ ...call, approval_grant: id }))).toBe('DENY APPROVAL_MISMATCH');
    expect(send(await caller.decide(call))).not.toBe(id);
  });

  it('shows the sentence of its policy to people who decide, while the approval is pending', async () => {
    const tenant = 'speaking';
    const [caller, approver] = [new Caller(test, tenant), new Caller(test, tenant, 'alice')];
    await test.activate(tenant, policy('1'));
    const says = async (id: string, query: { omit?: 'args' } = {}) =>
      (await approver.client.listApprovals({ query: { approval_id: id, ...query } })).body.data[0]?.says;
    const [named, spelled] = [
      await caller.decide(payment()),
      await caller.decide({ ...payment(), tool: 'pay.refund' }),
    ];
    expect([await says(send(named)), await says(send(spelled))]).toEqual(['pay {amount}', undefined]);
    expect(await says(send(named), { omit: 'args' })).toBeUndefined();
    await approver.move('deny', send(spelled));
    await approver.move('approve', send(named));
    expect(await says(send(named))).toBeUndefined();
    const open = send(await caller.decide(payment()));
    await test.activate(tenant, policy('2'), 2);
    expect(await says(open)).toBeUndefined();
  });

  verifies(
    'kn.approve.loop',
    'expires a pending or unused approval when its policy is replaced, and reports this reason',
    async () => {
      const tenant = 'replacing';
      const [caller, approver] = [new Caller(test, tenant), new Caller(test, tenant, 'alice')];
      await test.activate(tenant, policy('1'));
      const calls = [payment(), payment()] as const;
      const [open, options] = [send(await caller.decide(calls[0])), send(await caller.decide(calls[1]))];
      await approver.move('approve', options);
      await test.activate(tenant, policy('2'), 2);
      const later = send(await caller.decide(payment()));
      const idsIn = async (state: 'pending' | 'approved' | 'expired') =>
        (await approver.client.listApprovals({ query: { state } })).body.data.map(({ approval_id: id }) => id).sort();
      const expectExpired = async () => {
        expect(await Promise.all([idsIn('pending'), idsIn('approved'), idsIn('expired')])).toEqual([
          [later],
          [],
          [open, options].sort(),
        ]);
        for (const id of [open, options])
          expect(await approver.approval(id)).toMatchObject({ state: 'expired', rejection_reason: policyReplaced });
      };
      await expectExpired();
      await test.kernel.workers.housekeeper.run();
      await expectExpired();
      for (const call of calls)
        expect((await ledgerOf(test, call.session_id)).at(-1)?.payload).toMatchObject({ action: 'approval.expire' });
      expect(await refusal(approver.move('approve', open))).toBe('ILLEGAL_TRANSITION');
      expect(await approver.move('approve', later)).toMatchObject({ state: 'approved' });
    },
  );
});

describe('approvals', () => {
  it('are decided without a body when If-Match has the ceremony hash', async () => {
    const id = send(await agent.decide(payment()));
    const { ceremony_hash: hash } = await alice.approval(id);
    const response = await fetch(`${test.kernel.url}/api/v1/approvals/${id}/approve?tenant_id=acme`, {
      method: 'POST',
      headers: { authorization: `Bearer ${adminKey}`, 'x-gov-principal-id': 'alice', 'if-match': `"${hash}"` },
    });
    expect([response.status, await response.json()]).toMatchObject([200, { state: 'approved' }]);
  });

  it('are decided only with their current ceremony hash, in If-Match or in the body', async () => {
    const id = send(await agent.decide(payment()));
    const { ceremony_hash: hash } = await alice.approval(id);
    const params = { approval_id: id, action: 'approve' as const };
    const call = (body: object, headers: Record<string, string> = {}) =>
      alice.client.transitionApproval({ params, body, headers });
    const old = `sha256:${'0'.repeat(64)}` as typeof hash;
    expect(await refusal(call({}))).toBe('PRECONDITION_REQUIRED');
    expect(await refusal(call({ expected_ceremony_hash: old }))).toBe('PRECONDITION_FAILED');
    expect(await refusal(call({}, { 'if-match': `W/"${hash}"` }))).toBe('PRECONDITION_FAILED');
    expect(await refusal(call({ expected_ceremony_hash: hash }, { 'if-match': `"${old}"` }))).toBe(
      'PRECONDITION_FAILED',
    );
    expect(await refusal(call({}, { 'if-match': '*' }))).toBe('PRECONDITION_FAILED');
    const { body, headers } = await call({ reason: 'looks right' }, { 'if-match': hash }); // unquoted, as by a shell
    expect(body.state).toBe('approved');
    expect(headers.get('etag')).toBe(`"${body.ceremony_hash}"`);
    expect(await refusal(call({}, { 'if-match': `"${hash}"` }))).toBe('PRECONDITION_FAILED');
  });

  it('are sealed with approver and reason when they are decided, and waiting callers are notified', async () => {
    const call = payment();
    const id = send(await agent.decide(call));
    const { ceremony_hash, intent_hash, judged_hash } = await alice.approval(id);
    const body = { reason: 'invoice 7', expected_ceremony_hash: ceremony_hash };
    await alice.client.transitionApproval({ params: { approval_id: id, action: 'approve' }, body });
    const [, approval] = await ledgerOf(test, call.session_id);
    expect(approval?.payload).toMatchObject({
      kind: 'approval',
      principal_id: 'alice',
      approval_id: id,
      verdict: 'ALLOW',
    });
    expect(approval?.record?.intent.facts).toEqual({
      credential: 'operator_bearer',
      role: 'operator',
      reason: 'invoice 7',
      approved_preconditions: { tool_definition_hash: null, budgets: null },
      ceremony_hash,
      approved_intent_hash: intent_hash,
      approved_judged_hash: judged_hash,
      approved_scope: 'once',
      approved_expires_at: approval?.record?.intent.facts['approved_expires_at'],
      state: 'approved',
    });
    const message = `SELECT envelope FROM outbox WHERE type = 'kernel.approval.resolved.v1' AND envelope LIKE $1`;
    expect((await test.pool.query(message, [`%${id}%`])).rows).toHaveLength(1);
  });

  it('are listed by state and session, in pages without gaps', async () => {
    const session_id = newSession();
    const ids = [];
    for (const amount of [1, 2, 3, 4, 5])
      ids.push(send(await agent.decide({ ...payment(), session_id, args: { amount } })));
    const seen: string[] = [];
    let cursor: string | null | undefined;
    while (cursor !== null) {
      const query = { session_id, state: 'pending' as const, limit: 2, ...(cursor === undefined ? {} : { cursor }) };
      const { body } = await alice.client.listApprovals({ query });
      seen.push(...body.data.map(({ approval_id }) => approval_id));
      cursor = body.next_cursor;
    }
    expect(seen).toEqual(ids.reverse());
    expect((await test.as('globex').listApprovals({ query: { session_id } })).body.data).toEqual([]);
    expect(await refusal(alice.client.listApprovals({ query: { cursor: 'nonsense' } }))).toBe('INVALID_REQUEST');
  });
});

describe('an approval that is requested beforehand', () => {
  it('covers exactly the described call', async () => {
    const { tool, args, session_id } = { ...payment(), tool: 'rent' };
    const question = { action: 'tool.call', tool, args, session_id, reason: 'monthly', scope: 'uses:2' };
    const { status, body } = await agent.client.createApproval({ body: question as never });
    expect([status, body.state, body.requested_by]).toEqual([201, 'pending', 'agent']);
    const [first] = await ledgerOf(test, session_id);
    expect([body.receipt_id, first?.payload.action]).toEqual([first?.payload.receipt_id, 'approval.request']);
    expect(await refusal(agent.move('approve', body.approval_id))).toBe('PERMISSION_DENIED');
    await alice.move('approve', body.approval_id);
    const call = { tool, args, session_id };
    expect([answerOf(await agent.decide(call)), answerOf(await agent.decide(call))]).toEqual([
      'ALLOW ALLOWED',
      'ALLOW ALLOWED',
    ]);
    expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
  });

  it('does not cover a call whose rule demands more than the approval', async () => {
    const call = { tool: 'transfer', session_id: newSession() };
    const question = { action: 'tool.call', ...call, reason: 'by a friend' };
    const { body } = await agent.client.createApproval({ body: question as never });
    await alice.move('approve', body.approval_id);
    const escalated = await agent.decide(call);
    expect(answerOf(escalated)).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await refusal(alice.move('approve', send(escalated)))).toBe('PERMISSION_DENIED');
    await new Caller(test, 'acme', 'cfo').move('approve', send(escalated));
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
  });

  it.each([
    ['more uses', { scope: 'uses:9999' }],
    ['a longer lifetime', { expires_in_seconds: 604_800 }],
  ])('does not cover the call when it has %s than the rule permits', async (_, wider) => {
    const call = payment();
    const { body } = await agent.client.createApproval({
      body: { action: 'tool.call', ...call, reason: 'one payment', ...wider } as never,
    });
    const escalated = await agent.decide(call);
    expect(send(escalated)).not.toBe(body.approval_id);
    await alice.move('approve', body.approval_id);
    expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(answerOf(await agent.decide({ ...call, approval_grant: body.approval_id }))).toBe(
      'ESCALATE APPROVAL_REQUIRED',
    );
    expect(await alice.approval(body.approval_id)).toMatchObject({ state: 'approved' });
    await alice.move('approve', send(escalated));
    expect([answerOf(await agent.decide(call)), answerOf(await agent.decide(call))]).toEqual([
      'ALLOW ALLOWED',
      'ESCALATE APPROVAL_REQUIRED',
    ]);
  });
});

it('a list with large arguments has small pages, and each approval is in one of them', async () => {
  const [asker, reader] = [new Caller(test, 'large'), test.as('large', 'alice')];
  const args = { lines: Array.from({ length: 9_000 }, (_, nth) => `line ${nth}`) };
  const opened: string[] = [];
  for (let nth = 0; nth < 20; nth += 1)
    opened.push(send(await asker.decide({ tool: 'pay.send', args, session_id: newSession() })));
  const listed: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null;) {
    const { body } = await reader.listApprovals({ query: { limit: 200, ...(cursor ? { cursor } : {}) } });
    expect(JSON.stringify(body).length).toBeLessThan(500_000);
    expect(body.data.map((approval) => approval.args)).toEqual(body.data.map(() => args));
    listed.push(...body.data.map(({ approval_id }) => approval_id));
    cursor = body.next_cursor;
  }
  expect(listed).toEqual(opened.reverse());
});
