import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalId } from '@countersign/contracts';
import { similarDays } from '@countersign/contracts/governance-kernel';
import { countSimilar, type EarlierRequest } from '../src/controls/approvals/similar-requests.ts';
import { Caller, movableClock, newSession, send } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const dayMs = 86_400_000;
const policy = `
format: countersign/policy.v1
name: approvals
version: '1'
rules:
  - { id: payments, effect: escalate, match: { tool: ['pay.*'] }, approval: { timeout: 3600 } }
`;
const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
let agent: Caller, rival: Caller, alice: Caller;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_POLICY_MAX_AGE: '400d' }, overrides: { clock: time.clock } });
  await test.activate('*', policy);
  [agent, rival, alice] = [
    new Caller(test),
    new Caller(test, 'acme', 'other-agent'),
    new Caller(test, 'acme', 'alice'),
  ];
});
afterAll(() => test.close());

let amount = 0;
const requested = async (by: Caller, tool = 'pay.send', action = 'tool.call') =>
  send(await by.decide({ tool, action, args: { amount: (amount += 1) }, session_id: newSession() }));
const similarTo = async (approval_id: ApprovalId, tenant = 'acme') => {
  const { body } = await test.as(tenant, 'alice').getApprovalContext({ params: { approval_id }, query: {} });
  return body.similar;
};
const none = { approved: 0, denied: 0, undecided: 0, has_more: false, latest: null };

describe('the context of an approval', () => {
  it('counts how earlier requests of the same agent for the same tool were decided', async () => {
    const first = await requested(agent);
    expect(await similarTo(first)).toEqual(none);
    await alice.move('approve', first);
    await alice.move('deny', await requested(agent), 'too much');
    const withdrawn = await requested(agent);
    await alice.move('approve', withdrawn);
    time.advance(60_000);
    const { updated_at } = await alice.move('revoke', withdrawn);
    await requested(agent); // expires without a vote
    time.advance(2 * 3_600_000);
    await alice.move('approve', await requested(agent, 'pay.refund'));
    await alice.move('deny', await requested(rival));
    await requested(agent); // is still pending
    expect(await similarTo(await requested(agent))).toEqual({
      ...{ approved: 2, denied: 1, undecided: 1, has_more: false },
      latest: { approval_id: withdrawn, decision: 'approved', decided_at: updated_at },
    });
    expect(await similarTo(await requested(rival))).toMatchObject({ approved: 0, denied: 1 });
  });

  it('omits requests for a different action on the same tool', async () => {
    await alice.move('approve', await requested(agent, 'pay.plan', 'tool.preview'));
    expect(await similarTo(await requested(agent, 'pay.plan'))).toEqual(none);
    expect(await similarTo(await requested(agent, 'pay.plan', 'tool.preview'))).toMatchObject({ approved: 1 });
  });

  it('omits requests that are older', async () => {
    await alice.move('approve', await requested(agent, 'pay.fee'));
    time.advance(similarDays * dayMs - 60_000);
    const id = await requested(agent, 'pay.fee');
    expect(await similarTo(id)).toMatchObject({ approved: 1 });
    time.advance(120_000);
    expect(await similarTo(id)).toEqual(none);
  });

  it('belongs to the tenant of the approval, and counts only its requests', async () => {
    const [namesake, owner] = [new Caller(test, 'globex'), new Caller(test, 'globex', 'alice')];
    await owner.move('approve', await requested(namesake, 'pay.tax'));
    expect(await similarTo(await requested(namesake, 'pay.tax'), 'globex')).toMatchObject({ approved: 1 });
    expect(await similarTo(await requested(agent, 'pay.tax'))).toEqual(none);
    await expect(similarTo(await requested(agent, 'pay.tax'), 'globex')).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });

  it('counts the newest thousand requests', () => {
    const row = (state: string, more: Partial<EarlierRequest> = {}): EarlierRequest => ({
      ...{ approval_id: 'apr_01ARZ3NDEKTSV4RRFFQ69G5FAV', state, quorum: 2, approved_by: [], broken_by: null },
      updated_at: new Date(0),
      ...more,
    });
    const rows = [row('expired', { approved_by: ['a'] }), row('expired', { approved_by: ['a', 'b'] })];
    const broken = row('revoked', { approved_by: ['a'], broken_by: 'a' });
    expect(countSimilar([...rows, broken])).toMatchObject({ approved: 2, denied: 0, undecided: 1 });
    const many = Array.from({ length: 1_001 }, (_, nth) => row(nth === 1_000 ? 'denied' : 'consumed'));
    expect(countSimilar(many)).toMatchObject({ approved: 1_000, denied: 0, has_more: true });
  });
});
