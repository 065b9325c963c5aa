import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: issued
version: '1'
rules:
  - { id: two, effect: escalate, match: { tool: [two.*] }, approval: { quorum: 2, timeout: 3600 } }
  - { id: later, effect: escalate, match: { tool: [later.*] }, approval: { timelock: 600, timeout: 3600 } }
  - { id: soon, effect: escalate, match: { tool: [soon.*] }, approval: { timeout: 60 } }
  - { id: reads, effect: allow, match: { tool: [files.*] } }
`;
const minuteMs = 60_000;
/** In the tenant `keyed` alice has a passkey. In `plain` people vote with bearer credentials. */
const [plain, keyed] = ['acme', 'globex'];
const time = movableClock('2026-11-22T10:00:00.000Z');
let test: TestKernel;
let alice: Approver;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin }, overrides: { clock: time.clock } });
  await test.activate('*', policy);
  const body = { version: 1, signatures_only: false, break_glass: true };
  await test.system.putApprovalTerms({ params: { tenant: keyed }, body });
  alice = new Approver(test, 'alice', keyed);
  await alice.enrol();
});
afterAll(() => test.close());

async function escalated(tenant: string, tool: string) {
  const agent = new Caller(test, tenant);
  const call = { tool, session_id: newSession() };
  return { agent, call, id: send(await agent.decide(call)) };
}

type Input = Awaited<ReturnType<typeof escalated>>;

/** Seals another call of the session with a clock that is ahead. */
async function sealedAhead({ agent, call }: Input, ms: number): Promise<void> {
  time.advance(ms);
  await agent.decide({ tool: 'files.read', session_id: call.session_id });
  time.advance(-ms);
}

async function verdictOf(tenant: string, { call }: Input): Promise<string> {
  time.advance(60 * minuteMs); // the export must be later than all receipts
  const { body } = await test.as(tenant).exportReceipts({ query: { session_id: call.session_id } });
  const trust = parseKeySet((await test.as(tenant).listTrustKeys()).body);
  const lines = body.map((line) => JSON.stringify(line));
  return verifyExport(lines, { trust, provider: nodeProvider }).verdict;
}

describe('expiry is judged at the time in the receipt', () => {
  it('a break-glass approval is not used after its end, even if the clock of the kernel is behind', async () => {
    const question = await escalated(keyed, 'two.keys');
    await alice.decide(question.id, 'break_glass', 'a fire');
    time.advance(15 * minuteMs - 1);
    await sealedAhead(question, 5);
    expect(answerOf(await question.agent.decide({ ...question.call, approval_grant: question.id }))).toBe(
      'DENY APPROVAL_EXPIRED',
    );
    expect(await verdictOf(keyed, question)).toBe('VERIFIED');
  });

  it('a vote does not count after the end of its challenge, and nothing is sealed', async () => {
    const question = await escalated(keyed, 'two.keys');
    await sealedAhead(question, 6 * minuteMs);
    expect(await refusal(alice.decide(question.id))).toBe('PASSKEY_REFUSED');
    expect(await ledgerOf(test, question.call.session_id)).toHaveLength(2);
    time.advance(6 * minuteMs);
    await alice.decide(question.id);
    expect(await verdictOf(keyed, question)).toBe('VERIFIED');
  });

  it.each([plain, keyed])(
    'a vote is refused after the end of its approval, which then expires (tenant %s)',
    async (tenant) => {
      const question = await escalated(tenant, 'soon.send');
      await sealedAhead(question, minuteMs);
      const vote =
        tenant === keyed ? alice.decide(question.id) : new Caller(test, tenant, 'ann').move('approve', question.id);
      expect(await refusal(vote)).toBe('ILLEGAL_TRANSITION');
      expect(await question.agent.approval(question.id)).toMatchObject({ state: 'expired' });
      expect(await verdictOf(tenant, question)).toBe('VERIFIED');
    },
  );

  it('a time lock starts at the time in the receipt of the vote', async () => {
    const question = await escalated(plain, 'later.send');
    await sealedAhead(question, minuteMs);
    await new Caller(test, plain, 'ann').move('approve', question.id);
    time.advance(10 * minuteMs);
    expect(answerOf(await question.agent.decide(question.call))).toBe('DENY APPROVAL_TIMELOCKED');
    time.advance(minuteMs);
    expect(answerOf(await question.agent.decide(question.call))).toBe('ALLOW ALLOWED');
    expect(await verdictOf(plain, question)).toBe('VERIFIED');
  });

  it('an approval expires after the timeout of its rule, counted from the time in its receipt', async () => {
    const question = await escalated(plain, 'soon.send');
    await sealedAhead(question, 2 * minuteMs);
    const { approval, receipt } = await question.agent.decide({
      tool: 'soon.too',
      session_id: question.call.session_id,
    });
    const beforehand = {
      action: 'tool.call',
      tool: 'one.too',
      session_id: question.call.session_id,
      reason: 'soon',
    } as never; // the kernel fills in the defaults
    const { body } = await question.agent.client.createApproval({ body: beforehand });
    const issuedMs = Date.parse(receipt.payload.issued_at);
    expect(issuedMs).toBe(time.clock().getTime() + 2 * minuteMs);
    expect(Date.parse(approval?.expires_at ?? '')).toBe(issuedMs + minuteMs);
    expect(Date.parse(body.created_at)).toBe(issuedMs);
  });
});
