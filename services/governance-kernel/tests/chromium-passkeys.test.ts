import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { ApprovalId } from '@countersign/contracts';
import { Authenticator, type Forgery } from '@countersign/testkit/authenticator';
import { describeStory } from '@countersign/testkit/describe-story';
import { verifies } from '@countersign/testkit/verifies';
import { send, Caller, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { freePort, openPhone, type Phone } from './_chromium.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';

const policy = `
format: countersign/policy.v1
name: chromium
version: '1'
rules:
  - { id: payments, effect: escalate, match: { tool: [pay.*] }, reason: A person confirms payments. }
  - { id: vaults, effect: escalate, match: { tool: [vault.*] }, approval: { quorum: 2 } }
`;

let test: TestKernel;
let phone: Phone;
let agent: Caller;
let origin: string;
let key: string;
beforeAll(async () => {
  const port = await freePort();
  origin = `http://localhost:${port}`;
  test = await startTestKernel({ env: { GOV_PORT: String(port), GOV_PUBLIC_URL: origin } });
  await test.activate('*', policy);
  const terms = { version: 1, signatures_only: false, break_glass: true };
  await test.system.putApprovalTerms({ params: { tenant: 'acme' }, body: terms });
  agent = new Caller(test);
  const body = { kind: 'approver', principal_id: 'alice' } as never; // the kernel fills in the defaults
  key = (await test.as('acme', 'operator').createAccessKey({ body })).body.key;
  phone = await openPhone();
});
afterAll(async () => {
  await phone.browser.close();
  await test.close();
});

async function question(amount: number) {
  const call = { tool: 'pay.send', args: { amount }, session_id: newSession() };
  const reply = await agent.decide(call);
  return { call, id: send(reply), url: reply.approval?.approve_url ?? '' };
}

async function open(url: string): Promise<void> {
  const { page } = phone;
  await page.goto(url);
  if (!(await page.getByLabel('Approver key').isVisible())) return;
  await page.getByLabel('Approver key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { name: 'pay.send' }).waitFor();
}

/** An authenticator with the key of Chromium, to sign data that no browser signs. */
async function taken(): Promise<Authenticator> {
  const { cdp, authenticatorId } = phone;
  const { credentials } = await cdp.send('WebAuthn.getCredentials', { authenticatorId });
  const [found] = credentials;
  if (found === undefined) throw new Error('Chromium has no passkey');
  const id = Buffer.from(found.credentialId, 'base64').toString('base64url');
  return new Authenticator(origin, { id, privateKey: found.privateKey, counter: found.signCount });
}

const bob = () => test.as('acme', 'bob');
const params = { principal: 'bob' as never }; // matches the schema
let bobs: Authenticator;

/** Enrols a passkey of another person, which waits for a voucher. */
async function bobEnrols(): Promise<void> {
  bobs = new Authenticator(origin);
  const { challenge } = (await bob().registerPasskey({ params })).body;
  await bob().verifyPasskey({ params, body: { attestation: bobs.create(challenge) } });
}

async function bobDenies(id: ApprovalId): Promise<void> {
  const place = { params: { approval_id: id } };
  const { challenge, challenge_id } = (await bob().challengeApproval({ ...place, body: { decision: 'deny' } as never }))
    .body;
  await bob().assertApproval({ ...place, body: { challenge_id, assertion: bobs.get(challenge) } });
}

describeStory('in a real browser, as wide as a phone', () => {
  verifies(
    'kn.approve.loop',
    'a person can enrol a passkey and approve a call with it, and the call runs once',
    async () => {
      const { call, url } = await question(12_345);
      const { page } = phone;
      const faults: string[] = [];
      page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
      await open(url);
      await page.getByRole('button', { name: 'Enrol a passkey' }).click();
      const approve = page.getByRole('button', { name: 'Approve with your passkey' });
      await approve.waitFor();
      expect(await page.getByText('12345').isVisible()).toBe(true);
      const width = await page.evaluate('document.documentElement.scrollWidth');
      expect(width).toBeLessThanOrEqual(360);
      await page.getByLabel('Reason').fill('known payee');
      await approve.click();
      await page.getByRole('heading', { name: 'pay.send: approved' }).waitFor();
      expect(faults).toEqual([]);
      expect(answerOf(await agent.decide(call))).toBe('ALLOW ALLOWED');
      expect(answerOf(await agent.decide(call))).toBe('ESCALATE APPROVAL_REQUIRED');
    },
  );

  it('a passkey without user verification approves nothing', async () => {
    const { id, url } = await question(2);
    const { page, cdp, authenticatorId } = phone;
    await open(url);
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByRole('button', { name: 'Approve with your passkey' }).click();
    await page.getByText('Nothing was decided').waitFor();
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: true });
    expect(await agent.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
  });

  verifies(
    'kn.approve.webauthn',
    'a person can vouch for the passkey of a colleague on a page, which makes it active',
    async () => {
      await bobEnrols();
      const { page } = phone;
      const answer = await page.goto(`${origin}/approvals/passkeys`);
      expect(answer?.headers()['content-security-policy']).toMatch(/script-src 'self'; connect-src 'self'$/);
      expect(await page.getByText(bobs.id).isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Vouch for bob with your passkey' }).click();
      await page.getByText('No passkeys are waiting.').waitFor();
      const { data } = (await bob().listPasskeys({ params })).body;
      expect(data).toMatchObject([{ state: 'active', vouched_by: 'alice' }]);
    },
  );

  verifies(
    'kn.approve.loop',
    'a person can deny and break the glass with a passkey, which signs the reason',
    async () => {
      const { page } = phone;
      const denied = await question(5);
      await open(denied.url);
      await page.getByLabel('Reason').fill('ask first');
      await page.getByRole('button', { name: 'Deny with your passkey' }).click();
      await page.getByRole('heading', { name: 'pay.send: denied' }).waitFor();
      expect(await agent.approval(denied.id)).toMatchObject({ state: 'denied', rejection_reason: 'ask first' });
      const snapshot = { tool: 'vault.open', session_id: newSession() };
      const reply = await agent.decide(snapshot);
      await page.goto(reply.approval?.approve_url ?? '');
      await page.getByText('Break the glass').first().click();
      await page.getByLabel('Reason (stored').fill('the plant is on fire');
      await page.getByRole('button', { name: 'Break the glass' }).click();
      await page.getByRole('heading', { name: 'vault.open: approved' }).waitFor();
      expect(answerOf(await agent.decide(snapshot))).toBe('ALLOW ALLOWED');
      const sealed = (await ledgerOf(test, snapshot.session_id)).find(({ payload }) => payload.kind === 'break_glass');
      expect(sealed?.record?.intent.facts).toMatchObject({
        credential: 'passkey',
        reason: 'the plant is on fire',
        statement: { decision: 'break_glass', reason: 'the plant is on fire' },
      });
    },
  );

  it('an approval fails when the state changed after the page was shown', async () => {
    const { id, url } = await question(3);
    await open(url);
    await bobDenies(id);
    await phone.page.getByRole('button', { name: 'Approve with your passkey' }).click();
    await phone.page.getByText('Nothing was decided').waitFor();
    expect(await agent.approval(id)).toMatchObject({ state: 'denied' });
  });

  const forgeries: [string, Forgery][] = [
    ['another challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
    ['another origin', { origin: 'http://localhost:1' }],
    ['another relying party', { rpId: '127.0.0.1' }],
    ['another type', { type: 'webauthn.create' }],
    ['a counter that went back', { counter: 0 }],
    ['an unverified user', { flags: 0x01 }],
  ];

  for (const [what, forged] of forgeries)
    verifies('kn.approve.webauthn', `a signature of the passkey in Chromium is refused with ${what}`, async () => {
      const { id } = await question(4);
      const client = test.as('acme', 'alice');
      const params = { approval_id: id };
      const { body } = await client.challengeApproval({ params, body: {} as never });
      const assertion = (await taken()).get(body.challenge, forged) as never;
      const answer = { challenge_id: body.challenge_id, assertion };
      expect(await refusal(client.assertApproval({ params, body: answer }))).toBe('PASSKEY_REFUSED');
      expect(await agent.approval(id)).toMatchObject({ state: 'pending', approved_by: [] });
    });
});
