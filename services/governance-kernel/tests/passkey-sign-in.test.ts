import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { PrincipalId, TenantId } from '@countersign/contracts';
import { CredentialId } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { describeStory } from '@countersign/testkit/describe-story';
import { Authenticator, type Forgery } from '@countersign/testkit/authenticator';
import { TestGateway, userCalled, workspaceCalled } from './_assertions.ts';
import { ledgerOf, movableClock, refusal } from './_caller.ts';
import { startTestKernel, type TestKernel } from './_kernel.ts';
import { origin } from './_passkeys.ts';

const consoleUrl = `${origin}:8443`;
const [ada, bob] = [userCalled('ADA'), userCalled('B0B')];
const time = movableClock(new Date().toISOString());
const gateway = new TestGateway(time.clock);
let test: TestKernel;

beforeAll(async () => {
  const env = { GOV_PUBLIC_URL: origin, GOV_CONSOLE_URL: consoleUrl, GOV_ASSERTION_KEYS: gateway.publicKey };
  test = await startTestKernel({ env, overrides: { clock: time.clock } });
});

afterAll(() => test.close());

async function enrol(person: string, device: Authenticator) {
  const client = gateway.client(test.kernel.url, { principal: person, role: 'owner' });
  const params = { principal: PrincipalId.parse(person) };
  const { challenge } = (await client.registerPasskey({ params })).body;
  const attestation = device.create(challenge) as never; // the schema brands what it reads
  return (await client.verifyPasskey({ params, body: { attestation } })).body;
}

const begin = async () => (await test.system.challengeSignIn()).body;
type Input = Awaited<ReturnType<typeof begin>>;

async function finish({ statement, options }: Input, device: Authenticator, { person = ada, ...forged }: Wrong = {}) {
  const assertion = device.get(String(options['challenge']), forged) as never; // the schema brands what it reads
  const params = { tenant: TenantId.parse(workspaceCalled('ACME')), credential_id: CredentialId.parse(device.id) };
  const body = { principal_id: PrincipalId.parse(person), statement, assertion };
  return (await test.system.assertSignIn({ params, body })).body;
}

type Wrong = Forgery & { person?: string };

describeStory('a passkey that was enrolled at the console', () => {
  const device = new Authenticator(consoleUrl);

  it('signs its owner in to the console without a user name, and each use is counted and sealed', async () => {
    expect(await enrol(ada, device)).toMatchObject({ state: 'active' });
    const answer = await begin();
    expect(answer.options).toMatchObject({ rpId: 'kernel.example', userVerification: 'required' });
    expect(answer.options['allowCredentials']).toBeUndefined();
    expect(await finish(answer, device)).toMatchObject({ principal_id: ada, counter: 1 });
    const actions = (await ledgerOf(test, 'passkeys')).map(({ payload }) => payload.action);
    expect(actions).toEqual(['passkey.enrol', 'passkey.sign_in']);
  });

  it('does not sign in with a wrong challenge, origin, person, flag or counter, or an expired challenge', async () => {
    const wrong: Wrong[] = [
      { challenge: encodeBase64Url(new Uint8Array(32)) },
      { origin },
      { rpId: 'elsewhere.example' },
      { type: 'webauthn.create' },
      { flags: 0x01 },
      { person: bob },
      { crossOrigin: true },
      { crossOrigin: null },
      { counter: 1 },
    ];
    for (const forged of wrong)
      expect([forged, await refusal(begin().then((request) => finish(request, device, forged)))]).toEqual([
        forged,
        'PASSKEY_REFUSED',
      ]);
    const answer = await begin();
    const longer = { ...answer.statement, expires_at: new Date(Date.now() + 3_600_000).toISOString() as never };
    expect(await refusal(finish({ ...answer, statement: longer }, device))).toBe('PASSKEY_REFUSED');
    time.advance(301_000);
    expect(await refusal(finish(answer, device))).toBe('PASSKEY_REFUSED');
    time.advance(-301_000);
    expect(await finish(answer, device)).toMatchObject({ credential_id: device.id });
  });

  it('does not sign in while it waits for a voucher or after it is revoked', async () => {
    const second = new Authenticator(consoleUrl);
    expect(await enrol(bob, second)).toMatchObject({ state: 'waiting' });
    expect(await refusal(begin().then((request) => finish(request, second, { person: bob })))).toBe('PASSKEY_REFUSED');
    const client = gateway.client(test.kernel.url, { principal: ada, role: 'owner' });
    const params = { principal: PrincipalId.parse(ada), credential_id: CredentialId.parse(device.id) };
    await client.revokePasskey({ params });
    expect(await refusal(begin().then((request) => finish(request, device)))).toBe('PASSKEY_REFUSED');
  });
});
