import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalId } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { send, Caller, newSession, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, kernelAt, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: votes of before
version: '1'
rules:
  - { id: all, effect: escalate, match: { tool: ['*'] } }
  - { id: both, effect: escalate, match: { tool: [both.*] }, approval: { quorum: 3 } }
`;

let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin } });
  second = await startKernel(kernelConfigFrom(test.env));
  await test.activate('*', policy);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

const bearerVote = (id: ApprovalId, of: string) => new Caller(test, of, 'bob').move('approve', id);

describe('an earlier vote', () => {
  const half = async (of: string) => {
    const call = { tool: 'both.keys', session_id: newSession() };
    const id = send(await new Caller(test, of).decide(call));
    await new Caller(test, of, 'mallory').move('approve', id);
    await new Caller(test, of, 'alice').decideOnPage(id);
    return { call, id };
  };

  verifies(
    'kn.approve.webauthn',
    'with a bearer key does not count in a quorum that completes after the first passkey',
    async () => {
      const of = 'halfway';
      const { call, id } = await half(of);
      const [alice, bob, carla] = ['alice', 'bob', 'carla'].map((name) => new Approver(test, name, of));
      if (!alice || !bob || !carla) throw new Error('there are three');
      await alice.enrol();
      expect(await alice.decide(id)).toMatchObject({ state: 'pending', approved_by: ['alice'] });
      expect(answerOf(await new Caller(kernelAt(second.url) as never, of).decide(call))).toBe(
        'ESCALATE APPROVAL_REQUIRED',
      );
      for (const another of [bob, carla]) {
        await another.enrol();
        await alice.vouchFor(another);
        await another.decide(id);
      }
      expect(await new Caller(test, of).approval(id)).toMatchObject({
        state: 'approved',
        approved_by: ['alice', 'bob', 'carla'],
      });
    },
  );

  it('does not count after signatures_only is set, and still counts where nothing has changed', async () => {
    const of = 'signed-halfway';
    const { id } = await half(of);
    const unchanged = await half('as-before');
    const body = { version: 1, signatures_only: true, break_glass: false };
    await test.system.putApprovalTerms({ params: { tenant: of }, body });
    const bob = new Approver(test, 'bob', of);
    await bob.enrol();
    expect(await bob.decide(id)).toMatchObject({ state: 'pending', approved_by: ['bob'] });
    expect(await new Caller(test, 'as-before', 'bob').decideOnPage(unchanged.id)).toMatchObject({ state: 'approved' });
  });
});

describe('an approval completed earlier', () => {
  const completed = async (of: string, tool = 'pay.send') => {
    const call = { tool, session_id: newSession() };
    const id = send(await new Caller(test, of).decide(call));
    return { call, id };
  };
  const there = (of: string) => new Caller(kernelAt(second.url) as never, of);

  verifies(
    'kn.approve.webauthn',
    'with bearer keys allows no call after the first passkey, presented or not, on any kernel',
    async () => {
      const of = 'complete';
      const { call, id } = await completed(of);
      expect(await bearerVote(id, of)).toMatchObject({ state: 'approved' });
      const alice = new Approver(test, 'alice', of);
      await alice.enrol();
      for (const caller of [new Caller(test, of), there(of)]) {
        expect(answerOf(await caller.decide({ ...call, approval_grant: id }))).toBe('ESCALATE APPROVAL_REQUIRED');
        expect(answerOf(await caller.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
      }
      const anew = send(await new Caller(test, of).decide(call));
      expect(anew).not.toBe(id);
      expect(await new Caller(test, of).approval(id)).toMatchObject({ state: 'approved', uses_remaining: 1 });
      expect(await alice.decide(anew)).toMatchObject({ state: 'approved' });
      expect(answerOf(await there(of).decide(call))).toBe('ALLOW ALLOWED');
    },
  );

  it('does not hide a later denial by a passkey, so the agent does not request the approval again', async () => {
    const of = 'complete-then-denied';
    const { call, id } = await completed(of);
    await bearerVote(id, of);
    const alice = new Approver(test, 'alice', of);
    await alice.enrol();
    await alice.decide(send(await new Caller(test, of).decide(call)), 'deny');
    expect(answerOf(await new Caller(test, of).decide(call))).toBe('DENY APPROVAL_REJECTED');
  });

  it('by three people is incomplete again if only one used a passkey; an approval by one passkey stays valid', async () => {
    const of = 'complete-alone';
    const alice = new Approver(test, 'alice', of);
    const [three, one] = [await completed(of, 'both.keys'), await completed(of)];
    await bearerVote(three.id, of);
    await new Caller(test, of, 'carla').decideOnPage(three.id);
    await alice.enrol();
    expect(await alice.decide(three.id)).toMatchObject({ state: 'pending', approved_by: ['alice'] });
    await alice.decide(one.id);
    await alice.client.revokePasskey({ params: alice.place });
    expect(answerOf(await new Caller(test, of).decide(three.call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(answerOf(await new Caller(test, of).decide(one.call))).toBe('ALLOW ALLOWED');
  });

  it('with bearer keys allows no call after signatures_only is set', async () => {
    const of = 'complete-signed';
    const { call, id } = await completed(of);
    await bearerVote(id, of);
    const body = { version: 1, signatures_only: true, break_glass: false };
    await test.system.putApprovalTerms({ params: { tenant: of }, body });
    expect(answerOf(await new Caller(test, of).decide({ ...call, approval_grant: id }))).toBe(
      'ESCALATE APPROVAL_REQUIRED',
    );
    const unchanged = await completed('complete-unchanged');
    await bearerVote(unchanged.id, 'complete-unchanged');
    expect(answerOf(await new Caller(test, 'complete-unchanged').decide(unchanged.call))).toBe('ALLOW ALLOWED');
  });
});
