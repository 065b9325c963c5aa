import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { partiesAt } from '../src/controls/passkeys/relying-party.ts';
import { send, Caller, ledgerOf, movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { Authenticator, type Forgery } from '@countersign/testkit/authenticator';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, kernelAt, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: passkeys
version: '1'
rules:
  - { id: one, effect: escalate, match: { tool: [one.*] } }
  - { id: two, effect: escalate, match: { tool: [two.*] }, approval: { quorum: 2 } }
`;

const time = movableClock('2026-11-22T10:00:00.000Z');
let test: TestKernel;
let second: StartedKernel;
let agent: Caller;
let [alice, bob]: Approver[] = [];
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin }, overrides: { clock: time.clock } });
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
  await test.activate('*', policy);
  agent = new Caller(test);
  [alice, bob] = [new Approver(test, 'alice'), new Approver(test, 'bob')];
  await alice.enrol();
  await bob.enrol();
  await alice.vouchFor(bob);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

const people = () => {
  if (alice === undefined || bob === undefined) throw new Error('there is no enrolment');
  return { alice, bob };
};

const escalated = async (tool = 'one.call') => {
  const call = { tool, session_id: newSession() };
  return { call, id: send(await agent.decide(call)) };
};

describe('a vote with a passkey', () => {
  verifies(
    'kn.approve.webauthn',
    'approves the call, which runs once, and the record contains the signed statement',
    async () => {
      const { call, id } = await escalated();
      const { alice } = people();
      const { challenge, statement } = await alice.challenge(id);
      expect(statement).toMatchObject({ approval_id: id, approver_id: 'alice', decision: 'approve', tool: 'one.call' });
      expect(await alice.decide(id)).toMatchObject({ state: 'approved', approved_by: ['alice'] });
      expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
      expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
      const vote = (await ledgerOf(test, call.session_id)).find(({ payload }) => payload.action === 'approval.approve');
      const facts = vote?.record?.intent.facts ?? {};
      expect(facts).toMatchObject({ credential: 'passkey', credential_id: alice.id, public_key: { kty: 'EC' } });
      expect(facts['statement']).toMatchObject({ approval_id: id, rp_id: 'kernel.example', origin });
      expect(challenge).toHaveLength(43);
    },
  );

  verifies('kn.approve.webauthn', 'denies the call, which is then rejected', async () => {
    const { call, id } = await escalated();
    expect(await people().bob.decide(id, 'deny')).toMatchObject({ state: 'denied', approved_by: [] });
    expect(answerOf(await agent.decide({ ...call, approval_grant: id }))).toBe('DENY APPROVAL_REJECTED');
  });

  verifies('kn.approve.quorum', 'counts once for each person', async () => {
    const { call, id } = await escalated('two.keys');
    const { alice, bob } = people();
    expect(await alice.decide(id)).toMatchObject({ state: 'pending' });
    expect(await refusal(alice.decide(id))).toBe('ILLEGAL_TRANSITION');
    expect(await bob.decide(id)).toMatchObject({ state: 'approved', approved_by: ['alice', 'bob'] });
    expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
  });

  const forgeries: [string, Forgery][] = [
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another origin', { origin: 'https://kernel.example.evil' }],
    ['another port of the origin', { origin: 'https://kernel.example:8443' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['a registration', { type: 'webauthn.create' }],
    ['an absent user', { flags: 0x04 }],
    ['an unverified user', { flags: 0x01 }],
    ['a counter that did not increase', { counter: 0 }],
  ];

  it.each(forgeries)('is refused for %s, and its challenge is consumed', async (_what, forged) => {
    const { id } = await escalated();
    const { alice } = people();
    const { challenge, challenge_id } = await alice.challenge(id);
    const send = (assertion: object) =>
      alice.client.assertApproval({ params: { approval_id: id }, body: { challenge_id, assertion } as never });
    expect(await refusal(send(alice.authenticator.get(challenge, forged)))).toBe('PASSKEY_REFUSED');
    expect(await refusal(send(alice.authenticator.get(challenge)))).toBe('PASSKEY_REFUSED');
    expect(await agent.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
  });

  verifies('kn.approve.webauthn', 'is refused with a signature over a different challenge', async () => {
    const { alice } = people();
    const [{ id }, neighbour] = [await escalated(), await escalated()];
    const { challenge, challenge_id } = await alice.challenge(id);
    const elsewhere = await alice.challenge(neighbour.id);
    const [assertion, ofOther] = [alice.authenticator.get(challenge), alice.authenticator.get(elsewhere.challenge)];
    const { signature } = ofOther.response;
    const spliced = { ...assertion, response: { ...assertion.response, signature } } as never; // unbranded strings
    const body = { challenge_id, assertion: spliced };
    expect(await refusal(alice.client.assertApproval({ params: { approval_id: id }, body }))).toBe('PASSKEY_REFUSED');
    expect(await agent.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
  });

  verifies('kn.approve.webauthn', 'is refused when the counter went back', async () => {
    const { alice } = people();
    const [first, second] = [await escalated(), await escalated()];
    alice.authenticator.counter += 10;
    await alice.decide(first.id);
    alice.authenticator.counter -= 5;
    expect(await refusal(alice.decide(second.id))).toBe('PASSKEY_REFUSED');
    alice.authenticator.counter += 5;
    expect(await alice.decide(second.id)).toMatchObject({ state: 'approved' });
  });

  verifies(
    'kn.approve.webauthn',
    'is refused after five minutes, a second time, and for another approval',
    async () => {
      const { alice } = people();
      const [{ id }, foreign] = [await escalated(), await escalated()];
      const question = await alice.challenge(id);
      const answer = (approval_id = id) => {
        const assertion = alice.authenticator.get(question.challenge);
        const body = { challenge_id: question.challenge_id, assertion };
        return alice.client.assertApproval({ params: { approval_id }, body });
      };
      expect(await refusal(answer(foreign.id))).toBe('PASSKEY_REFUSED');
      time.advance(300_000);
      expect(await refusal(answer())).toBe('PASSKEY_REFUSED');
      const again = await alice.challenge(id);
      const assertion = alice.authenticator.get(again.challenge);
      const send = () =>
        alice.client.assertApproval({
          params: { approval_id: id },
          body: { challenge_id: again.challenge_id, assertion },
        });
      const sent = await Promise.allSettled([send(), send(), send()]);
      expect(sent.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    },
  );

  verifies(
    'kn.approve.webauthn',
    'is refused with a passkey of another person or tenant, and with an unknown one',
    async () => {
      const { id } = await escalated();
      const { alice, bob } = people();
      const stranger = new Authenticator(origin);
      const foreign = new Approver(test, 'alice', 'globex');
      await foreign.enrol();
      for (const { get } of [bob.authenticator, stranger, foreign.authenticator].map((key) => ({
        get: key.get.bind(key),
      }))) {
        const { challenge, challenge_id } = await alice.challenge(id);
        const body = { challenge_id, assertion: get(challenge) };
        expect(await refusal(alice.client.assertApproval({ params: { approval_id: id }, body }))).toBe(
          'PASSKEY_REFUSED',
        );
      }
      const { challenge, challenge_id } = await alice.challenge(id);
      const body = { challenge_id, assertion: alice.authenticator.get(challenge) };
      expect(await refusal(bob.client.assertApproval({ params: { approval_id: id }, body }))).toBe('PASSKEY_REFUSED');
      expect(await refusal(foreign.decide(id))).toBe('NOT_FOUND');
    },
  );

  verifies('kn.approve.webauthn', 'is refused when the approval changed after the challenge was issued', async () => {
    const { id } = await escalated('two.keys');
    const { alice, bob } = people();
    const { challenge, challenge_id } = await bob.challenge(id);
    await alice.decide(id);
    const body = { challenge_id, assertion: bob.authenticator.get(challenge) };
    expect(await refusal(bob.client.assertApproval({ params: { approval_id: id }, body }))).toBe('PRECONDITION_FAILED');
    expect(await agent.approval(id)).toMatchObject({ approved_by: ['alice'] });
  });

  verifies(
    'kn.approve.webauthn',
    'is not requested from a person who may not vote, or for a resolved approval',
    async () => {
      const { id } = await escalated();
      const requester = new Approver(test, 'AGENT');
      await requester.enrol();
      expect(await refusal(requester.challenge(id))).toBe('PERMISSION_DENIED');
      expect(await refusal(new Approver(test, 'carol').challenge(id))).toBe('PASSKEY_REQUIRED');
      const stale = { 'if-match': `"sha256:${'0'.repeat(64)}"` };
      const input = { params: { approval_id: id }, body: {} as never, headers: stale };
      expect(await refusal(people().alice.client.challengeApproval(input))).toBe('PRECONDITION_FAILED');
      await people().alice.decide(id);
      expect(await refusal(people().bob.challenge(id))).toBe('ILLEGAL_TRANSITION');
    },
  );

  verifies(
    'kn.approve.webauthn',
    'is refused with a passkey that was revoked after the challenge was issued',
    async () => {
      const { id } = await escalated();
      const dora = new Approver(test, 'dora');
      await dora.enrol();
      await people().alice.vouchFor(dora);
      const { challenge, challenge_id } = await dora.challenge(id);
      await dora.client.revokePasskey({ params: dora.place });
      const body = { challenge_id, assertion: dora.authenticator.get(challenge) };
      expect(await refusal(dora.client.assertApproval({ params: { approval_id: id }, body: body }))).toBe(
        'PASSKEY_REFUSED',
      );
      expect(await agent.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
    },
  );

  it('has one challenge per person and approval, which is deleted after it expires', async () => {
    const { id } = await escalated();
    await people().alice.challenge(id);
    await people().alice.challenge(id);
    const count = async () =>
      (await test.pool.query(`SELECT 1 FROM passkey_challenges WHERE subject = $1 AND tenant_id = 'acme'`, [id]))
        .rowCount;
    expect(await count()).toBe(1);
    time.advance(300_001);
    await test.kernel.workers.housekeeper.run();
    expect(await count()).toBe(0);
  });
});

describe('the relying party of passkeys', () => {
  it('may be missing: enrolment then fails and the kernel keeps running', async () => {
    const plain = await startTestKernel();
    expect(await refusal(new Approver(plain, 'alice').enrol())).toBe('PASSKEYS_UNAVAILABLE');
    await plain.close();
  });

  it.each([
    ['https://kernel.example/', 'kernel.example'],
    ['http://localhost:8080', 'localhost'],
    ['http://a.localhost:8080', 'a.localhost'],
    ['http://kernel.example', null],
    ['http://127.0.0.1:8080', null],
    ['https://[::1]:8080', null],
    ['https://10.0.0.1', null],
  ])('for %s is %s', (url, id) => {
    expect(partiesAt({ publicUrl: url, consoleUrl: null }).party?.id ?? null).toBe(id);
  });

  it.each<[string, string, string | null, string | null]>([
    ['http://localhost:8080', 'http://localhost:3100', 'http://localhost:8080', 'http://localhost:3100'],
    ['https://kernel.example', 'https://console.example', null, 'https://console.example'],
    ['http://10.0.0.7:8080', 'https://console.example', null, 'https://console.example'],
    ['https://kernel.example', 'http://10.0.0.7:3100', 'https://kernel.example', null],
  ])('at kernel URL %s and console URL %s has the origins %s and %s', (publicUrl, consoleUrl, own, console) => {
    const { party, consoleParty } = partiesAt({ publicUrl, consoleUrl });
    expect([party?.origin ?? null, consoleParty?.origin ?? null]).toEqual([own, console]);
  });
});

describe('two kernels on one database', () => {
  it('accept only one of several concurrent answers to a challenge', async () => {
    const { id } = await escalated();
    await people().alice.challenge(id);
    const place = { tenant: 'acme', principal: 'alice', purpose: 'approval', subject: id } as never; // unbranded
    const stores = [test.kernel, second].map(({ context }) => context.passkeys.challenges);
    const taken = await Promise.all([...stores, ...stores, ...stores].map((store) => store.take(place)));
    expect(taken.filter((challenge) => challenge !== null)).toHaveLength(1);
  });

  it('accept one counter value of a passkey only once', async () => {
    const { alice } = people();
    const [one, two] = [await escalated(), await escalated()];
    const questions = [await alice.challenge(one.id), await alice.challenge(two.id)];
    const counter = (alice.authenticator.counter += 1);
    const elsewhere = new Approver(kernelAt(second.url), 'alice');
    const votes = questions.map(({ challenge, challenge_id, approval_id }, index) => {
      const assertion = alice.authenticator.get(challenge, { counter });
      const { client } = index === 0 ? alice : elsewhere;
      return client.assertApproval({ params: { approval_id }, body: { challenge_id, assertion } });
    });
    const settled = await Promise.allSettled(votes);
    expect(settled.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});
