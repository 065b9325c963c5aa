import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { SessionId } from '@countersign/contracts';
import type { Forgery } from '@countersign/testkit/authenticator';
import { nodeProvider } from '@countersign/crypto/node';
import { parseKeySet, verifyExport } from '@countersign/verifier';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: verifiable
version: '1'
rules:
  - { id: all, effect: escalate, match: { tool: ['*'] }, approval: { timeout: 3600 } }
`;

const time = movableClock('2026-11-22T10:00:00.000Z');
/** The time that the clock advances on each read by the kernel. */
const step = { ms: 0 };
let test: TestKernel;
let alice: Approver;
let agent: Caller;
beforeAll(async () => {
  const clock = () => {
    time.advance(step.ms);
    return time.clock();
  };
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin }, overrides: { clock } });
  await test.activate('*', policy);
  alice = new Approver(test, 'alice');
  agent = new Caller(test);
  await alice.enrol();
});
afterAll(() => test.close());

async function escalated() {
  const call = { tool: 'pay.send', session_id: newSession() };
  return { call, id: send(await agent.decide(call)) };
}

async function verdictOf(session: SessionId | 'passkeys'): Promise<string> {
  const { body } = await test.as('acme').exportReceipts({ query: { session_id: session } });
  const trust = parseKeySet((await test.as('acme').listTrustKeys()).body);
  const lines = body.map((line) => JSON.stringify(line));
  return verifyExport(lines, { trust, provider: nodeProvider }).verdict;
}

type Answer = ReturnType<Approver['authenticator']['get']>;
type Spelt = keyof Answer['response'];

/** The same bytes with an unused bit set in the last base64url character. */
function withStrayBit(text: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return `${text.slice(0, -1)}${alphabet.charAt(alphabet.indexOf(text.slice(-1)) + 1)}`;
}

/** Signs until the member has unused bits. Signatures differ in length, and a multiple of three bytes leaves none. */
function spelt(challenge: string, member: Spelt): Answer {
  const answer = alice.authenticator.get(challenge);
  if (answer.response[member].length % 4 === 0) return spelt(challenge, member);
  return { ...answer, response: { ...answer.response, [member]: withStrayBit(answer.response[member]) } };
}

describe('a passkey signature is sealed only if the verifier accepts it', () => {
  it.each<[string, Forgery]>([
    ['in a cross-origin frame', { crossOrigin: true }],
    ['on a page with crossOrigin null', { crossOrigin: null }],
  ])('a vote made %s is refused, and the session stays verifiable', async (_what, forged) => {
    const { call, id } = await escalated();
    const { challenge, challenge_id } = await alice.challenge(id);
    const body = { challenge_id, assertion: alice.authenticator.get(challenge, forged) };
    expect(await refusal(alice.client.assertApproval({ params: { approval_id: id }, body }))).toBe('PASSKEY_REFUSED');
    expect(await agent.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
    expect(await ledgerOf(test, call.session_id)).toHaveLength(1);
    await alice.decide(id);
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
    expect(await verdictOf(call.session_id)).toBe('VERIFIED');
  });

  it.each<Spelt>(['authenticatorData', 'signature'])(
    'a vote whose %s has unused bits set is refused',
    async (member) => {
      const { call, id } = await escalated();
      const { challenge, challenge_id } = await alice.challenge(id);
      const body = { challenge_id, assertion: spelt(challenge, member) };
      expect(await refusal(alice.client.assertApproval({ params: { approval_id: id }, body }))).toBe('INVALID_REQUEST');
      expect(await ledgerOf(test, call.session_id)).toHaveLength(1);
    },
  );

  it('a vote that commits after its challenge expires is refused, even if it was sent in time', async () => {
    const { call, id } = await escalated();
    const { challenge, challenge_id, expires_at } = await alice.challenge(id);
    const body = { challenge_id, assertion: alice.authenticator.get(challenge) };
    time.advance(Date.parse(expires_at) - time.clock().getTime() - 2);
    step.ms = 1;
    const late = refusal(alice.client.assertApproval({ params: { approval_id: id }, body }));
    expect(await late.finally(() => (step.ms = 0))).toBe('PASSKEY_REFUSED');
    expect(await ledgerOf(test, call.session_id)).toHaveLength(1);
  });

  it('a voucher made in a cross-origin frame is refused, and the passkeys stay verifiable', async () => {
    const bob = new Approver(test, 'bob');
    expect(await bob.enrol()).toMatchObject({ state: 'waiting' });
    expect(await refusal(alice.vouchFor(bob, { crossOrigin: true }))).toBe('PASSKEY_REFUSED');
    expect(await alice.vouchFor(bob)).toMatchObject({ state: 'active' });
    expect(await verdictOf('passkeys')).toBe('VERIFIED');
  });

  it('a passkey is not enrolled in a cross-origin frame', async () => {
    const dave = new Approver(test, 'dave');
    expect(await refusal(dave.enrol({ crossOrigin: true }))).toBe('PASSKEY_REFUSED');
    expect(await dave.enrol()).toMatchObject({ state: 'waiting' });
  });

  it('a key with a mismatched algorithm is not enrolled', async () => {
    expect(await refusal(new Approver(test, 'carol').enrol({ algorithm: -8 }))).toBe('PASSKEY_REFUSED');
    expect(await new Approver(test, 'carol').enrol({ algorithm: -7 })).toMatchObject({ state: 'waiting' });
  });
});
