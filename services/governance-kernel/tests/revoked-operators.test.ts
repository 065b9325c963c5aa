import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import { send, Caller, newSession, answerOf } from './_caller.ts';
import { starterPolicy, startTestKernel, type TestKernel } from './_kernel.ts';
import { Approver, origin } from './_passkeys.ts';
import { allRoutes, rawCall } from './_raw.ts';

let test: TestKernel;
beforeAll(async () => {
  test = await startTestKernel({ env: { GOV_PUBLIC_URL: origin } });
  await test.activate('*', starterPolicy);
});
afterAll(() => test.close());

const codeOfError = (error: unknown) => (isAppError(error) ? error.code : String(error));
const payment = () => ({ action: 'tool.call', tool: 'pay.send', session_id: newSession() }) as never; // unbranded
const revoke = (tenant: string, principal: string) =>
  test.as(tenant).revokeIdentity({ params: { directory: 'operators', principal } });

describe('a revoked operator', () => {
  it('cannot vote on any route', async () => {
    const tenant = 'voting';
    const body = { kind: 'approver', principal_id: 'carol' } as never; // the kernel adds defaults
    const { key } = (await test.as(tenant).createAccessKey({ body })).body;
    const id = send((await test.as(tenant, 'asker').evaluate({ body: payment() })).body);
    const { ceremony_hash } = (await test.as(tenant).listApprovals()).body.data[0] ?? { ceremony_hash: '' };
    await revoke(tenant, 'carol');
    const vote = (principal: string) =>
      test.as(tenant, principal).transitionApproval({
        params: { approval_id: id, action: 'approve' },
        body: {},
        headers: { 'if-match': `"${ceremony_hash}"` },
      });
    expect(await vote('carol').then(({ body: { state } }) => state, codeOfError)).toBe('PERMISSION_DENIED');
    const form = new URLSearchParams({ key, approval_id: id }).toString();
    const route = allRoutes.find(({ operation }) => operation === 'sign-in-approver');
    if (route === undefined) throw new Error('the contract has no sign-in-approver');
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: test.kernel.url };
    const signedIn = await rawCall(test.kernel.url, { route, headers, body: form });
    expect([signedIn.status, signedIn.headers.get('set-cookie')]).toEqual([401, null]);
    expect((await vote('dave')).body.state).toBe('approved');
  });

  it('no longer counts in an open quorum, but still counts in a completed one', async () => {
    const tenant = 'halves';
    const policy = `
format: countersign/policy.v1
name: halves
version: '1'
rules: [{ id: two, effect: escalate, match: { tool: ['*'] }, approval: { quorum: 2 } }]
`;
    await test.activate(tenant, policy);
    const ask = async () => {
      const call = { tool: 'pay.send', session_id: newSession() };
      return { call, id: send(await new Caller(test, tenant).decide(call)) };
    };
    const by = (name: string) => new Caller(test, tenant, name);
    const [complete, half] = [await ask(), await ask()];
    await by('carol').move('approve', complete.id);
    await by('dave').decideOnPage(complete.id);
    expect(await by('carol').move('approve', half.id)).toMatchObject({ state: 'pending', approved_by: ['carol'] });
    const params = { directory: 'operators', principal: 'carol' } as const;
    await test.as(tenant).putIdentity({ params, body: { display_name: 'Carol' } });
    await revoke(tenant, 'carol');
    expect(await by('dave').move('approve', half.id)).toMatchObject({ state: 'pending', approved_by: ['dave'] });
    expect(answerOf(await new Caller(test, tenant).decide(half.call))).toBe('ESCALATE APPROVAL_REQUIRED');
    expect(await by('erin').decideOnPage(half.id)).toMatchObject({
      state: 'approved',
      approved_by: ['dave', 'erin'],
    });
    expect(answerOf(await new Caller(test, tenant).decide(complete.call))).toBe('ALLOW ALLOWED');
  });

  it('cannot enrol a passkey, or vouch for one with a passkey that was active', async () => {
    const tenant = 'vouching';
    const [anna, ben] = [new Approver(test, 'anna', tenant), new Approver(test, 'ben', tenant)];
    await anna.enrol();
    await ben.enrol();
    await test.as(tenant).putIdentity({
      params: { directory: 'operators', principal: 'anna' },
      body: { display_name: 'Anna' },
    });
    const { challenge } = (await anna.client.challengeVoucher({ params: ben.place })).body;
    await revoke(tenant, 'anna');
    const assertion = anna.authenticator.get(challenge);
    const vouched = anna.client.vouchForPasskey({ params: ben.place, body: { assertion } });
    expect(await vouched.then(() => 'vouched', codeOfError)).toBe('PERMISSION_DENIED');
    const again = new Approver(test, 'anna', tenant);
    expect(await again.enrol().then(() => 'enrolled', codeOfError)).toBe('PERMISSION_DENIED');
  });
});
