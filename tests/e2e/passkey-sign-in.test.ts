import { beforeAll, describe, expect, it } from '@jest/globals';
import { Authenticator, type Forgery } from '@countersign/testkit/authenticator';
import { verifies } from '@countersign/testkit/verifies';
import { addressBook } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf, Tab, type Told } from './_tab.ts';

const address = addressBook();

const timeoutMs = 120_000;
let system: SharedSystem;

beforeAll(async () => {
  system = await sharedSystem();
}, timeoutMs);

type Person = { tab: Tab; userId: string; workspaceId: string; device: Authenticator };
let people = 0;

async function person(): Promise<Person> {
  const tab = new Tab(system.gatewayUrl);
  const { body } = await tab.signIn(address(`holder-${++people}`));
  const [workspace] = (await tab.send('/api/me')).body['workspaces'] as { id: string }[];
  const device = new Authenticator(system.consoleUrl);
  return { tab, device, userId: String(body['user_id']), workspaceId: workspace?.id ?? '' };
}

const post = (tab: Tab, path: string, body: object | undefined, headers: Record<string, string> = {}) =>
  tab.send(path, { method: 'POST', headers, ...(body === undefined ? {} : { body }) });

async function enrol({ tab, device, workspaceId }: Person): Promise<Told> {
  const headers = { 'x-workspace-id': workspaceId };
  const { body } = await post(tab, '/api/auth/webauthn/register/begin', undefined, headers);
  const attestation = device.create(String(body['challenge']));
  return post(tab, '/api/auth/webauthn/register/finish', { attestation }, headers);
}

async function begin(tab: Tab, path = '/api/auth/login/begin') {
  const { body } = await post(tab, path, { method: 'passkey' });
  return body as { login_id: string; options: { challenge: string; rpId: string; allowCredentials?: unknown } };
}

/** Signs a browser in by what the device answers, or is made to say wrongly. */
async function signIn(device: Authenticator, forged: Forgery = {}): Promise<Told & { tab: Tab }> {
  const tab = new Tab(system.gatewayUrl);
  const { login_id, options } = await begin(tab);
  const body = { login_id, assertion: device.get(options.challenge, forged) };
  return { ...(await post(tab, '/api/auth/login/finish', body)), tab };
}

const refused = [403, 'PASSKEY_REFUSED'];

describe('a passkey', () => {
  verifies('cp.login', 'that its owner enrolled signs a browser in, and proves its owner again', async () => {
    const ada = await person();
    expect(await enrol(ada)).toMatchObject({ status: 201, body: { state: 'active', principal_id: ada.userId } });
    const { tab, status, body } = await signIn(ada.device);
    expect([status, body['user_id'], body['methods']]).toEqual([200, ada.userId, ['passkey']]);
    const { passkeys } = (await tab.send('/api/session')).body as { passkeys: Record<string, unknown>[] };
    const told = { credential_id: ada.device.id, workspace_id: ada.workspaceId, signed_in_at: expect.any(String) };
    expect(passkeys).toMatchObject([told]);
    const before = (await ada.tab.send('/api/session')).body;
    const asked = await begin(ada.tab, '/api/auth/reauth/begin');
    const answer = { login_id: asked.login_id, assertion: ada.device.get(asked.options.challenge) };
    const { body: proven } = await post(ada.tab, '/api/auth/reauth/finish', answer);
    expect(proven).toMatchObject({ methods: ['code', 'passkey'] });
    expect(String(proven['proven_at']) > String(before['proven_at'])).toBe(true);
  });

  verifies('cp.login', 'is requested in the same way for everyone, and names no passkey', async () => {
    const [one, other] = [await begin(new Tab(system.gatewayUrl)), await begin(new Tab(system.gatewayUrl))];
    for (const { options } of [one, other]) expect(options.allowCredentials).toBeUndefined();
    expect(Object.keys(one)).toEqual(Object.keys(other));
    expect({ ...one.options, challenge: '' }).toEqual({ ...other.options, challenge: '' });
  });

  verifies('cp.login', 'refuses a wrong challenge, origin or name, a second use, and another device', async () => {
    const ada = await person();
    await enrol(ada);
    const wrong: Forgery[] = [
      { challenge: Buffer.alloc(32).toString('base64url') },
      { origin: 'http://localhost:1' },
      { origin: 'http://localhost:8080' },
      { rpId: 'elsewhere.example' },
      { flags: 0x01 },
    ];
    for (const forged of wrong) expect([forged, codeOf(await signIn(ada.device, forged))]).toEqual([forged, refused]);
    expect(codeOf(await signIn(new Authenticator(system.consoleUrl)))).toEqual(refused);
    const tab = new Tab(system.gatewayUrl);
    const { login_id, options } = await begin(tab);
    const body = { login_id, assertion: ada.device.get(options.challenge) };
    expect((await post(tab, '/api/auth/login/finish', body)).status).toBe(200);
    expect(codeOf(await post(new Tab(system.gatewayUrl), '/api/auth/login/finish', body))).toEqual([
      401,
      'CODE_INVALID',
    ]);
    expect((await signIn(ada.device)).status).toBe(200);
  });

  it('proves no other person again', async () => {
    const [ada, bob] = [await person(), await person()];
    await enrol(ada);
    const asked = await begin(bob.tab, '/api/auth/reauth/begin');
    const assertion = ada.device.get(asked.options.challenge);
    const answer = { login_id: asked.login_id, assertion };
    expect(codeOf(await post(bob.tab, '/api/auth/reauth/finish', answer))).toEqual(refused);
    const own = await begin(ada.tab, '/api/auth/reauth/begin');
    const login = { login_id: own.login_id, assertion: ada.device.get(own.options.challenge) };
    const told = await post(new Tab(system.gatewayUrl), '/api/auth/login/finish', login);
    expect(codeOf(told)).toEqual([401, 'CODE_INVALID']);
  });

  it('that an operator enrolled at the kernel under a person’s name does not sign in as them', async () => {
    const ada = await person();
    const mallory = new Authenticator('http://localhost:8080');
    const ask = async (end: string, body?: object) => {
      const url = new URL(`/api/v1/identity/operators/${ada.userId}/webauthn/${end}`, system.kernelUrl);
      const response = await fetch(url, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${system.adminApiKey}`,
          'x-gov-tenant-id': ada.workspaceId,
          'content-type': 'application/json',
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return (await response.json()) as Record<string, string>; // the members of an answer
    };
    const { challenge = '' } = await ask('register');
    expect(await ask('verify', { attestation: mallory.create(challenge) })).toMatchObject({ state: 'active' });
    expect(codeOf(await signIn(mallory, { origin: system.consoleUrl }))).toEqual(refused);
  });

  it('ends with its person’s word, everywhere, and is theirs alone to end', async () => {
    const [ada, bob] = [await person(), await person()];
    await enrol(ada);
    const ending = (tab: Tab) => tab.send(`/api/session/credentials/${ada.device.id}`, { method: 'DELETE' });
    expect(codeOf(await ending(bob.tab))).toEqual([404, 'NOT_FOUND']);
    expect((await signIn(ada.device)).status).toBe(200);
    expect((await ending(ada.tab)).status).toBe(200);
    expect(codeOf(await signIn(ada.device))).toEqual(refused);
    expect((await ada.tab.send('/api/session')).body['passkeys']).toEqual([]);
    expect(codeOf(await ending(ada.tab))).toEqual([404, 'NOT_FOUND']);
  });
});
