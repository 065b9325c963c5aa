import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import { freePort, type StartedSystem } from '@countersign/local';
import { Authenticator } from '@countersign/testkit/authenticator';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { clientSecret, TestProvider } from './_oidc-provider.ts';
import { personAt, type Person } from './_signed-in.ts';
import { kernelClient, scratchDataDir, startIn } from './_system.ts';
import { Tab } from './_tab.ts';

const dataDir = scratchDataDir();
const connection = { connection_id: 'acme', client_id: 'countersign-acme', client_secret: clientSecret };
const stranger = `usr_${'0'.repeat(26)}`;
/** Claims of a caller that have no effect. */
const claims = {
  'x-gov-principal-id': stranger,
  'x-user-id': stranger,
  'x-principal-id': stranger,
  'x-forwarded-user': stranger,
};

let system: StartedSystem;
let provider: TestProvider;
let ada: Person;
let orgId: string;
let projects = 0;

beforeAll(async () => {
  const port = await freePort();
  const consoleUrl = `http://localhost:${port}`;
  provider = await TestProvider.start([connection], consoleUrl);
  const connections = [{ ...connection, name: 'Acme', issuer: provider.issuer, link_domains: ['example.org'] }];
  const variables = { CONSOLE_PORT: String(port), GOV_OIDC_CONNECTIONS: JSON.stringify({ connections }) };
  // The identity provider is set by a variable.
  system = await startIn(dataDir.path, { ...variables, GOV_RATE_LIMITS: '0' });
  ada = await personAt(system.gatewayUrl, 'ada@example.org');
  orgId = String((await post(ada.tab, '/api/bootstrap', { name: 'Ada' })).body['org_id']);
  // The commercial gateway learns of the organisation from an event.
  await untilAnswered(async () => (await ada.tab.send(`/api/billing/tenants/${orgId}`)).status === 200);
});

afterAll(async () => {
  await system?.stop();
  await provider?.stop();
  dataDir.remove();
});

type Send = (path: string, sent?: { method?: string; body?: unknown }) => Promise<Record<string, unknown>>;

const post = (tab: Tab, path: string, body: object, headers: Record<string, string> = {}) =>
  tab.send(path, { method: 'POST', body, headers });

/** Sends requests of this browser. Each request also claims to be another person. */
const byTab =
  (tab: Tab): Send =>
  async (path, sent = {}) =>
    (await tab.send(path, { ...sent, headers: { ...claims, 'x-workspace-id': ada.workspaceId } })).body;

const byBearer =
  (token: string): Send =>
  async (path, { method = 'GET', body } = {}) => {
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
    const headers = { ...claims, authorization: `Bearer ${token}`, 'x-workspace-id': ada.workspaceId, ...type };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(new URL(path, system.gatewayUrl), {
      method,
      headers,
      ...content,
    });
    return (await answer.json()) as Record<string, unknown>;
  };

async function byPasskey(): Promise<Send> {
  const device = new Authenticator(system.consoleUrl);
  const headers = { 'x-workspace-id': ada.workspaceId };
  const { body } = await ada.tab.send('/api/auth/webauthn/register/begin', { method: 'POST', headers });
  const attestation = device.create(String(body['challenge']));
  await post(ada.tab, '/api/auth/webauthn/register/finish', { attestation }, headers);
  const tab = new Tab(system.gatewayUrl);
  const begun = (await post(tab, '/api/auth/login/begin', { method: 'passkey' })).body;
  const { challenge } = begun['options'] as { challenge: string };
  await post(tab, '/api/auth/login/finish', { login_id: begun['login_id'], assertion: device.get(challenge) });
  return byTab(tab);
}

/** Sends requests of an identity that was linked by a code to Ada's address. */
async function byProvider(): Promise<Send> {
  const tab = new Tab(system.gatewayUrl);
  const account = { subject: 'ada-at-acme', email: ada.email };
  const visit = async () => {
    provider.is(account);
    const { body } = await post(tab, '/api/auth/login/begin', { method: 'oidc', connection_id: 'acme' });
    const { pathname, search } = await provider.signIn(String(body['authorization_url']));
    return (await tab.visit(pathname + search)).headers.get('location') ?? '';
  };
  const loginId = new URL(await visit(), system.consoleUrl).searchParams.get('link');
  const { body } = await post(tab, '/api/auth/login/begin', { method: 'link', login_id: loginId });
  await post(tab, '/api/auth/login/finish', { login_id: loginId, code: body['code'] });
  return byTab(tab);
}

async function byProgram(): Promise<Send> {
  const form = async (path: string, members: Record<string, string>) => {
    const answer = await fetch(new URL(path, system.gatewayUrl), {
      method: 'POST',
      body: new URLSearchParams(members),
    });
    return (await answer.json()) as Record<string, string>; // RFC 8628, 3.2 and 3.5
  };
  const client_id = 'countersign';
  const { device_code = '', user_code } = await form('/api/auth/device/code', { client_id, scope: 'owner' });
  const decision = { decision: 'approve', workspace_id: ada.workspaceId };
  await post(ada.tab, `/api/auth/device/${String(user_code)}/decide`, decision);
  const grant_type = 'urn:ietf:params:oauth:grant-type:device_code';
  const { access_token = '' } = await form('/api/auth/device/token', { grant_type, device_code, client_id });
  return byBearer(access_token);
}

const nowhere = { gateway: undefined, controlPlane: undefined, commercial: undefined };
/** The ways to sign in. `unseen` has the services that a way cannot reach. */
const ways: [name: string, signIn: () => Promise<Send>, unseen: object][] = [
  ['a code, for a token', async () => byBearer(ada.token), { controlPlane: undefined }],
  ['a code, at a browser', async () => byTab(ada.tab), {}],
  ['a passkey', byPasskey, {}],
  ['an identity provider', byProvider, {}],
  ['a program that she has let in', byProgram, { ...nowhere, receipt: null }],
];

/** The person who throttled a tool, from the receipt. Programs cannot throttle. */
async function stopperOf(send: Send): Promise<string | null> {
  const body = { target: 'tool:nobody.calls', reason: 'to see who', limit: 9 };
  const { command_id } = await send('/api/ops/throttle', { method: 'POST', body });
  if (command_id === undefined) return null;
  const { data } = (await kernelClient(system, ada.workspaceId).listReceipts({ query: { kind: 'policy' } })).body;
  return data.find(({ payload }) => payload.action === 'fence.set')?.payload.principal_id ?? null;
}

/** The person who made a task, from the log of the workspace. */
async function makerOf(send: Send): Promise<string | undefined> {
  await send('/api/tasks', { method: 'POST', body: { title: 'A letter' } });
  return (await ada.client.listAudit({ query: { limit: 1 } })).body.data[0]?.actor;
}

/** The person who made a project, from the commercial gateway. */
async function projectMakerOf(send: Send): Promise<unknown> {
  projects += 1;
  const body = { org_id: orgId, name: `Project ${projects}` };
  return (await send('/api/basic/projects', { method: 'POST', body }))['created_by'];
}

describe('a person', () => {
  verifies(
    'sys.person',
    'has one id at all services and in receipts, for every way to sign in and whatever a header claims',
    async () => {
      const { id } = (await ada.client.getMe()).body.user;
      for (const [name, signIn, unseen] of ways) {
        const send = await signIn();
        const { user } = (await send('/api/me')) as { user?: { id: string } };
        const { user_id } = await send('/api/session');
        const report = {
          gateway: user?.id,
          controlPlane: user_id,
          commercial: await projectMakerOf(send),
          log: await makerOf(send),
          receipt: await stopperOf(send),
        };
        const expected = { gateway: id, controlPlane: id, commercial: id, log: id, receipt: id, ...unseen };
        expect([name, report]).toEqual([name, expected]);
      }
    },
  );
});
