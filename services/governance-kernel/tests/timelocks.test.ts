import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Browser } from '@countersign/testkit/browser';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { kernelAt } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: locks
version: '1'
rules:
  - { id: vaults, effect: escalate, match: { tool: [vault.*] }, approval: { quorum: 2, timelock: 600, timeout: 900 } }
`;

const minuteMs = 60_000;
/** Each test begins at a later hour, since the receipts of a log are in the order of their times. */
let startMs = Date.parse('2026-11-22T10:00:00.000Z');
/** The end of the time lock: ten minutes after the second vote. */
const opens = () => new Date(startMs + 11 * minuteMs).toISOString();
let time: ReturnType<typeof movableClock>;
let test: TestKernel;
let second: StartedKernel;
let here: Caller, there: Caller, alice: Caller, bob: Caller;
beforeAll(async () => {
  const clock = () => time.clock();
  time = movableClock(new Date(startMs).toISOString());
  test = await startTestKernel({ overrides: { clock } });
  second = await startKernel(kernelConfigFrom(test.env), { clock });
  await test.activate('*', policy);
  [here, there] = [new Caller(test), new Caller(kernelAt(second.url) as never)];
  [alice, bob] = [new Caller(test, 'acme', 'alice'), new Caller(kernelAt(second.url) as never, 'acme', 'bob')];
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

function beginNextHour(): void {
  startMs += 60 * minuteMs;
  time = movableClock(new Date(startMs).toISOString());
}

/** Requests an approval at a full hour. One person approves it at once, the other a minute later. */
async function approved() {
  beginNextHour();
  const call = { tool: 'vault.open', session_id: newSession() };
  const id = send(await here.decide(call));
  expect(await alice.approval(id)).toMatchObject({ timelock_seconds: 600, timelock_until: null });
  await alice.move('approve', id);
  time.advance(minuteMs);
  expect(await bob.decideOnPage(id)).toMatchObject({ state: 'approved', timelock_until: opens() });
  return { call, id };
}

describe('a time lock, over two kernels', () => {
  verifies('kn.approve.loop', 'lets an approved call run from its end, and not a millisecond earlier', async () => {
    const { call, id } = await approved();
    time.advance(10 * minuteMs - 1);
    for (const agent of [here, there])
      for (const repeat of [call, { ...call, approval_grant: id }]) {
        const reply = await agent.decide(repeat);
        expect([answerOf(reply), reply.reason]).toEqual(['DENY APPROVAL_TIMELOCKED', expect.stringContaining(opens())]);
      }
    time.advance(1);
    const repeats = Array.from({ length: 20 }, (_, nth) => (nth % 2 === 0 ? here : there).decide(call));
    const verdicts = (await Promise.all(repeats)).map(({ verdict }) => verdict);
    expect(verdicts.filter((verdict) => verdict === 'ALLOW')).toHaveLength(1);
  });

  verifies('kn.approve.loop', 'leaves time to revoke the approval, which stops the call', async () => {
    const { call, id } = await approved();
    time.advance(minuteMs);
    expect(await there.move('revoke', id)).toMatchObject({ state: 'revoked' });
    time.advance(10 * minuteMs);
    expect(answerOf(await here.decide({ ...call, approval_grant: id }))).toBe('DENY APPROVAL_REJECTED');
  });

  it('is sealed with the vote that started it, and shown on the page', async () => {
    const { call, id } = await approved();
    const votes = (await ledgerOf(test, call.session_id)).filter(({ payload }) => payload.kind === 'approval');
    expect(votes.map(({ record }) => record?.intent.facts['timelock_until'])).toEqual([undefined, opens()]);
    const body = { kind: 'approver', principal_id: 'carol' } as never; // the kernel adds defaults
    const { key } = (await test.as('acme', 'operator').createAccessKey({ body })).body;
    const browser = new Browser(second.url);
    const page = await browser.submit((await browser.open(`/approvals/${id}`)).form('sign-in'), { key });
    expect(page.text).toContain('vault.open: approved, and waits');
    expect(page.text).toContain(`from ${opens()} until`);
    time.advance(10 * minuteMs);
    expect((await browser.open(`/approvals/${id}`)).text).toContain('vault.open: approved The agent may');
  });

  it('refuses a last vote that would leave no time for the call, and an approval with a shorter lock', async () => {
    beginNextHour();
    const call = { tool: 'vault.open', session_id: newSession() };
    const id = send(await here.decide(call));
    await alice.move('approve', id);
    time.advance(5 * minuteMs);
    expect(await refusal(bob.move('approve', id))).toBe('ILLEGAL_TRANSITION');
    expect(await alice.approval(id)).toMatchObject({ state: 'pending', approved_by: ['alice'] });
    const early = { ...call, session_id: newSession(), action: 'tool.call', reason: 'soon', quorum: 2 };
    for (const [timelock_seconds, verdict] of [
      [599, 'ESCALATE APPROVAL_REQUIRED'],
      [600, 'DENY APPROVAL_TIMELOCKED'],
    ] as const) {
      const { body } = await here.client.createApproval({ body: { ...early, timelock_seconds } as never }); // unbranded
      await alice.move('approve', body.approval_id);
      await bob.decideOnPage(body.approval_id);
      expect(answerOf(await there.decide({ ...call, session_id: early.session_id }))).toBe(verdict);
    }
  });
});
