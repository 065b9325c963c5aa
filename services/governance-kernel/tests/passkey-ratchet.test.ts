import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ApprovalId, TenantId } from '@countersign/contracts';
import type { ApprovalStatement } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, encodeBase64Url } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { Browser } from '@countersign/testkit/browser';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import type { z } from 'zod';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { deliverSettings, TestGateway, userCalled, workspaceCalled } from './_assertions.ts';
import { send, Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, kernelAt, origin } from './_passkeys.ts';

const policy = `
format: countersign/policy.v1
name: ratchet
version: '1'
rules:
  - { id: all, effect: escalate, match: { tool: ['*'] } }
`;

const gateway = new TestGateway();
const signer = createSigner(generateSigningKey().privateKeyPem);
const tenant = workspaceCalled('ACME');
const carol = {
  tenant_id: tenant,
  principal_id: 'carol',
  key_id: 'carol-key',
  public_key: encodeBase64Url(signer.publicKey),
};
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  const env = {
    GOV_PUBLIC_URL: origin,
    GOV_APPROVER_KEYS: JSON.stringify([carol]),
    GOV_ASSERTION_KEYS: gateway.publicKey,
  };
  test = await startTestKernel({ env });
  second = await startKernel(kernelConfigFrom(test.env));
  await test.activate('*', policy);
  await deliverSettings(test, tenant);
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

const escalated = async (of: string = tenant) => {
  const call = { tool: 'pay.send', session_id: newSession() };
  return { call, id: send(await new Caller(test, of).decide(call)) };
};
const decisions = ['approve', 'deny', 'revoke', 'break_glass'] as const;
type Decision = (typeof decisions)[number];
const bearerVote = (id: ApprovalId, of: string = tenant, action: Decision = 'approve') =>
  new Caller(test, of, 'bob').move(action, id, 'a drill');

async function signedVote(id: ApprovalId, decision: 'approve' | 'deny' = 'approve') {
  const approval = await new Caller(test, tenant, 'carol').approval(id);
  const { approval_id, tenant_id, intent_hash, judged_hash, policy_hash, ceremony_hash } = approval;
  const subject = { approval_id, tenant_id, intent_hash, judged_hash, policy_hash, ceremony_hash };
  const statement = { type: 'countersign.approval.v1', ...subject, approver_id: 'carol', decision };
  const signature = encodeBase64Url(signer.sign(canonicalBytes(statement)));
  const stated = statement as z.infer<typeof ApprovalStatement>; // unbranded strings
  return (await test.system.approveByKernel({ body: { statement: stated, key_id: 'carol-key', signature } })).body;
}

async function gatewayVote(id: ApprovalId, action: 'approve' | 'deny') {
  const { ceremony_hash } = await new Caller(test, tenant).approval(id);
  const client = gateway.client(test.kernel.url, { tenant, principal: userCalled('ERNA'), role: 'owner' });
  const params = { approval_id: id, action };
  return (await client.transitionApproval({ params, body: { expected_ceremony_hash: ceremony_hash } })).body;
}

async function pageVote(id: ApprovalId, decision: Decision = 'approve') {
  const body = { kind: 'approver', principal_id: 'dave' } as never; // the kernel adds defaults
  const { key } = (await test.as(tenant, 'operator').createAccessKey({ body })).body;
  const browser = new Browser(test.kernel.url);
  const page = await browser.submit((await browser.open(`/approvals/${id}`)).form('sign-in'), { key });
  // The page no longer has a form for a vote without a passkey. The test sends a copy of the old form.
  const { ceremony_hash } = await new Caller(test, tenant).approval(id);
  const session = await test.kernel.context.approverSessions.find(browser.cookie);
  if (session === null) throw new Error(page.text);
  const form = { id, action: 'decide', ceremonyHash: ceremony_hash } as const;
  const csrf_token = test.kernel.context.approverSessions.csrfToken(session, form);
  const fields = { ceremony_hash, csrf_token, decision, reason: 'a drill' };
  return browser.submit({ action: `/approvals/${id}`, fields });
}

describeStory('once a tenant has enrolled a passkey', () => {
  const alice = () => new Approver(test, 'alice', tenant);

  verifies(
    'kn.approve.webauthn',
    'only a passkey decides, on any route, even after the last passkey is revoked',
    async () => {
      const params = { tenant };
      const terms = { version: 1, signatures_only: false, break_glass: true };
      await test.system.putApprovalTerms({ params, body: terms });
      const before = await escalated();
      expect(await bearerVote(before.id)).toMatchObject({ state: 'approved' });
      const person = alice();
      expect(await person.enrol()).toMatchObject({ state: 'active', vouched_by: null });
      for (const round of ['enrolled', 'revoked']) {
        const { call, id } = await escalated();
        for (const decision of decisions) {
          const reportOf = (code: string) => [round, decision, code];
          expect(reportOf(await refusal(bearerVote(id, tenant, decision)))).toEqual(reportOf('PASSKEY_REQUIRED'));
          expect((await pageVote(id, decision)).text).toContain('only a passkey can decide');
          if (decision === 'revoke' || decision === 'break_glass') continue;
          expect(reportOf(await refusal(signedVote(id, decision)))).toEqual(reportOf('PASSKEY_REQUIRED'));
          expect(reportOf(await refusal(gatewayVote(id, decision)))).toEqual(reportOf('PASSKEY_REQUIRED'));
        }
        expect(await new Caller(test, tenant).approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
        expect(answerOf(await new Caller(test, tenant).decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
        expect(await refusal(bearerVote(before.id, tenant, 'revoke'))).toBe('PASSKEY_REQUIRED');
        if (round === 'revoked') break;
        const [denied, revoked] = [await escalated(), await escalated()];
        expect(await person.decide(denied.id, 'deny')).toMatchObject({ state: 'denied' });
        await person.decide(revoked.id);
        expect(await person.decide(revoked.id, 'revoke')).toMatchObject({ state: 'revoked' });
        await person.client.revokePasskey({ params: person.place });
      }
      expect(await bearerVote((await escalated('globex')).id, 'globex')).toMatchObject({ state: 'approved' });
    },
  );

  it('a stolen access key can enrol only a passkey that waits for a voucher', async () => {
    const thief = new Approver(test, 'mallory', tenant);
    expect(await thief.enrol()).toMatchObject({ state: 'waiting' });
    const { id } = await escalated();
    expect(await refusal(thief.decide(id))).toBe('PASSKEY_REQUIRED');
    expect(await refusal(thief.vouchFor(thief))).toBe('PASSKEY_REQUIRED');
    // The thief requests a challenge for a person with a passkey, and signs it with another passkey.
    const victim = new Approver(test, 'victim', tenant);
    await victim.enrol();
    await test.system.acceptPasskey({
      params: { tenant: tenant, credential_id: victim.id },
      body: { reason: 'for a test', accepted_by: 'operator' },
    });
    const asVictim = test.as(tenant, 'victim');
    const { challenge } = (await asVictim.challengeVoucher({ params: thief.place })).body;
    const forged = { assertion: thief.authenticator.get(challenge) };
    expect(await refusal(asVictim.vouchForPasskey({ params: thief.place, body: forged }))).toBe('PASSKEY_REFUSED');
    expect(await thief.client.listPasskeys({ params: { principal: thief.principal } })).toMatchObject({
      body: { data: [{ state: 'waiting' }] },
    });
  });
});

describe('a waiting passkey', () => {
  it('is activated by the voucher of a colleague or of its owner, which is sealed with its assertion', async () => {
    const of = 'vouching';
    const [alice, bob, second] = ['alice', 'bob', 'alice'].map((name) => new Approver(test, name, of));
    if (!alice || !bob || !second) throw new Error('there are three');
    await alice.enrol();
    expect(await bob.enrol()).toMatchObject({ state: 'waiting' });
    expect(await alice.vouchFor(bob)).toMatchObject({ state: 'active', vouched_by: 'alice' });
    expect(await second.enrol()).toMatchObject({ state: 'waiting' });
    expect(await alice.vouchFor(second)).toMatchObject({ state: 'active', vouched_by: 'alice' });
    expect(await refusal(alice.vouchFor(second))).toBe('ILLEGAL_TRANSITION');
    const sealed = (await ledgerOf(test, 'passkeys')).filter(({ payload }) => payload.tenant_id === of);
    expect(sealed.map(({ payload }) => [payload.kind, payload.action, payload.principal_id])).toEqual([
      ['trust', 'passkey.enrol', 'alice'],
      ['trust', 'passkey.enrol', 'bob'],
      ['trust', 'passkey.vouch', 'alice'],
      ['trust', 'passkey.enrol', 'alice'],
      ['trust', 'passkey.vouch', 'alice'],
    ]);
    expect(sealed[2]?.record?.intent.facts).toMatchObject({ credential_id: alice.id, enrolled_credential_id: bob.id });
  });

  it('is not activated by a forged voucher or by another waiting passkey', async () => {
    const of = 'forging';
    const [alice, bob] = [new Approver(test, 'alice', of), new Approver(test, 'bob', of)];
    await alice.enrol();
    await bob.enrol();
    for (const forged of [{ flags: 0x01 }, { origin: 'https://evil.example' }, { rpId: 'evil.example' }])
      expect(await refusal(alice.vouchFor(bob, forged))).toBe('PASSKEY_REFUSED');
    const another = new Approver(test, 'carol', of);
    await another.enrol();
    const { challenge } = (await alice.client.challengeVoucher({ params: bob.place })).body;
    const assertion = alice.authenticator.get(challenge);
    expect(await refusal(alice.client.vouchForPasskey({ params: another.place, body: { assertion } }))).toBe(
      'PASSKEY_REFUSED',
    );
    expect(await refusal(bob.vouchFor(another))).toBe('PASSKEY_REQUIRED');
  });

  it('is accepted by the system with a reason when no passkey is left to vouch for it', async () => {
    const of = 'recovering' as TenantId;
    const [alice, bob] = [new Approver(test, 'alice', of), new Approver(test, 'bob', of)];
    await alice.enrol();
    await alice.client.revokePasskey({ params: alice.place });
    expect(await bob.enrol()).toMatchObject({ state: 'waiting' });
    const params = { tenant: of, credential_id: bob.id };
    const body = { reason: 'the only device was lost', accepted_by: 'operator' as never };
    expect((await test.system.acceptPasskey({ params, body })).body).toMatchObject({ state: 'active' });
    expect(await refusal(test.system.acceptPasskey({ params, body }))).toBe('ILLEGAL_TRANSITION');
    expect(await refusal(test.system.acceptPasskey({ params: { ...params, tenant: 'globex' }, body }))).toBe(
      'NOT_FOUND',
    );
    const { id } = await escalated(of);
    expect(await bob.decide(id)).toMatchObject({ state: 'approved' });
  });
});

describe('an enrolment', () => {
  it.each([
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another origin', { origin: 'https://evil.example' }],
    ['another relying party', { rpId: 'evil.example' }],
    ['an assertion', { type: 'webauthn.get' }],
    ['an unverified user', { flags: 0x41 }],
    ['an absent user', { flags: 0x44 }],
  ])('is rejected for %s, and changes nothing', async (what, forged) => {
    const of = `enrolling-${what.replaceAll(' ', '-')}`;
    expect(await refusal(new Approver(test, 'alice', of).enrol(forged))).toBe('PASSKEY_REFUSED');
    expect(await bearerVote((await escalated(of)).id, of)).toMatchObject({ state: 'approved' });
  });

  it('is valid once, for its owner, and for a passkey that is not enrolled yet', async () => {
    const of = 'enrolling';
    const [alice, bob] = [new Approver(test, 'alice', of), new Approver(test, 'bob', of)];
    const params = { principal: alice.principal };
    const { challenge } = (await alice.client.registerPasskey({ params })).body;
    const attestation = alice.authenticator.create(challenge);
    expect(
      await refusal(alice.client.verifyPasskey({ params: { principal: bob.principal }, body: { attestation } })),
    ).toBe('PASSKEY_REFUSED');
    await alice.client.verifyPasskey({ params, body: { attestation } });
    expect(await refusal(alice.client.verifyPasskey({ params, body: { attestation } }))).toBe('PASSKEY_REFUSED');
    expect(await refusal(alice.enrol())).toBe('ALREADY_EXISTS');
    const next = (await bob.client.registerPasskey({ params: { principal: bob.principal } })).body;
    const same = { attestation: alice.authenticator.create(next.challenge) };
    expect(await refusal(bob.client.verifyPasskey({ params: { principal: bob.principal }, body: same }))).toBe(
      'ALREADY_EXISTS',
    );
  });

  it('for another person is refused to gateway callers', async () => {
    const erin = userCalled('ERNA');
    const client = gateway.client(test.kernel.url, { tenant, principal: erin, role: 'owner' });
    const someone = { principal: userCalled('FRED') as never };
    expect(await refusal(client.registerPasskey({ params: someone }))).toBe('PERMISSION_DENIED');
    expect((await client.registerPasskey({ params: { principal: erin } })).body.challenge).toHaveLength(43);
    const agent = gateway.client(test.kernel.url, { tenant });
    expect(await refusal(agent.registerPasskey({ params: someone }))).toBe('PERMISSION_DENIED');
  });
});

describe('the setting signatures_only', () => {
  it('refuses bearer votes before any passkey is enrolled, and accepts a passkey vote', async () => {
    const body = { version: 1, signatures_only: true, break_glass: false };
    const params = { tenant: 'signing' as TenantId };
    expect((await test.system.putApprovalTerms({ params, body })).body).toMatchObject({
      passkeys_since: null,
      version: 1,
    });
    const { id } = await escalated('signing');
    for (const decision of decisions)
      expect([decision, await refusal(bearerVote(id, 'signing', decision))]).toEqual([decision, 'PASSKEY_REQUIRED']);
    expect(await refusal(test.system.putApprovalTerms({ params, body: { ...body, signatures_only: false } }))).toBe(
      'ILLEGAL_TRANSITION',
    );
    const alice = new Approver(test, 'alice', 'signing');
    await alice.enrol();
    expect(await alice.decide(id)).toMatchObject({ state: 'approved' });
    const since = (
      await test.system.putApprovalTerms({ params, body: { ...body, version: 2, signatures_only: false } })
    ).body;
    expect(since.passkeys_since).not.toBeNull();
    expect(await refusal(bearerVote((await escalated('signing')).id, 'signing'))).toBe('PASSKEY_REQUIRED');
  });
});

describe('two kernels on one database', () => {
  verifies('kn.approve.webauthn', 'count a bearer vote only when it is sealed before the first enrolment', async () => {
    for (let round = 0; round < 8; round += 1) {
      const of = `race-${round}`;
      const alice = new Approver(test, 'alice', of);
      const { id } = await escalated(of);
      const params = { principal: alice.principal };
      const { challenge } = (await alice.client.registerPasskey({ params })).body;
      const attestation = alice.authenticator.create(challenge);
      const { ceremony_hash } = await new Caller(test, of).approval(id);
      const elsewhere = kernelAt(second.url).as(of, 'bob');
      const vote = {
        params: { approval_id: id, action: 'approve' as const },
        body: { expected_ceremony_hash: ceremony_hash },
      };
      const [, voted] = await Promise.allSettled([
        alice.client.verifyPasskey({ params, body: { attestation } }),
        elsewhere.transitionApproval(vote),
      ]);
      const log = await test.pool.query<{ action: string }>(
        `SELECT action FROM ledger WHERE tenant_id = $1 AND action IN ('approval.approve', 'passkey.enrol') ORDER BY log_index`,
        [of],
      );
      const order = log.rows.map(({ action }) => action);
      expect(order).toEqual(voted.status === 'fulfilled' ? ['approval.approve', 'passkey.enrol'] : ['passkey.enrol']);
    }
  });

  it('activate only one of two simultaneous first enrolments', async () => {
    const people = ['alice', 'bob'].map((name) => new Approver(test, name, 'first'));
    const there = kernelAt(second.url).as('first', 'bob');
    const enrolled = await Promise.all(
      people.map((person, index) => person.enrol({}, index === 0 ? {} : { by: there })),
    );
    expect(enrolled.map(({ state }) => state).sort()).toEqual(['active', 'waiting']);
  });
});
