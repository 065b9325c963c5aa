import { beforeAll, describe, expect, it } from '@jest/globals';
import { Authenticator, type Forgery } from '@countersign/testkit/authenticator';
import { verifies } from '@countersign/testkit/verifies';
import { addressBook } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { codeOf, Tab, type Report } from './_tab.ts';

const address = addressBook();

let system: SharedSystem;

beforeAll(async () => {
  system = await sharedSystem();
});

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

async function enrol({ tab, device, workspaceId }: Person): Promise<Report> {
  const headers = { 'x-workspace-id': workspaceId };
  const { body } = await post(tab, '/api/auth/webauthn/register/begin', undefined, headers);
  const attestation = device.create(String(body['challenge']));
  return post(tab, '/api/auth/webauthn/register/finish', { attestation }, headers);
}

async function begin(tab: Tab, path = '/api/auth/login/begin') {
  const { body } = await post(tab, path, { method: 'passkey' });
  return body as { login_id: string; options: { challenge: string; rpId: string; allowCredentials?: unknown } };
}

/** Signs a browser in with the answer of the device, which may be forged. */
async function signIn(device: Authenticator, forged: Forgery = {}): Promise<Report & { tab: Tab }> {
  const tab = new Tab(system.gatewayUrl);
  const { login_id, options } = await begin(tab);
  const body = { login_id, assertion: device.get(options.challenge, forged) };
  return { ...(await post(tab, '/api/auth/login/finish', body)), tab };
}

const refused = [403, 'PASSKEY_REFUSED'];

describe('a passkey', () => {
  verifies('cp.login', 'enrolled by its owner signs a browser in, and proves presence again', async () => {
    const ada = await person();
    expect(await enrol(ada)).toMatchObject({ status: 201, body: { state: 'active', principal_id: ada.userId } });
    const { tab, status, body } = await signIn(ada.device);
    expect([status, body['user_id'], body['methods']]).toEqual([200, ada.userId, ['passkey']]);
    const { passkeys } = (await tab.send('/api/session')).body as { passkeys: Record<string, unknown>[] };
    const report = { credential_id: ada.device.id, workspace_id: ada.workspaceId, signed_in_at: expect.any(String) };
    expect(passkeys).toMatchObject([report]);
    const before = (await ada.tab.send('/api/session')).body;
    const response = await begin(ada.tab, '/api/auth/reauth/begin');
    const answer = { login_id: response.login_id, assertion: ada.device.get(response.options.challenge) };
    const { body: proven } = await post(ada.tab, '/api/auth/reauth/finish', answer);
    expect(proven).toMatchObject({ methods: ['code', 'passkey'] });
    expect(String(proven['proven_at']) > String(before['proven_at'])).toBe(true);
  });

  verifies('cp.login', 'is requested equally from all visitors, without the ids of passkeys', async () => {
    const [one, second] = [await begin(new Tab(system.gatewayUrl)), await begin(new Tab(system.gatewayUrl))];
    for (const { options } of [one, second]) expect(options.allowCredentials).toBeUndefined();
    expect(Object.keys(one)).toEqual(Object.keys(second));
    expect({ ...one.options, challenge: '' }).toEqual({ ...second.options, challenge: '' });
  });

  verifies(
    'cp.login',
    'is rejected with a wrong challenge, origin or host, when used twice, and from another device',
    async () => {
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
    },
  );

  it('cannot prove the presence of another person', async () => {
    const [ada, bob] = [await person(), await person()];
    await enrol(ada);
    const response = await begin(bob.tab, '/api/auth/reauth/begin');
    const assertion = ada.device.get(response.options.challenge);
    const answer = { login_id: response.login_id, assertion };
    expect(codeOf(await post(bob.tab, '/api/auth/reauth/finish', answer))).toEqual(refused);
    const own = await begin(ada.tab, '/api/auth/reauth/begin');
    const login = { login_id: own.login_id, assertion: ada.device.get(own.options.challenge) };
    const result = await post(new Tab(system.gatewayUrl), '/api/auth/login/finish', login);
    expect(codeOf(result)).toEqual([401, 'CODE_INVALID']);
  });

  it('enrolled by an operator at the kernel under a person’s name does not sign in as that person', async () => {
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

  it('is ended everywhere, and only by its own person', async () => {
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
