import { beforeAll, describe, expect } from '@jest/globals';
import { pathParams, workspaceParamOf, type AnyRoute } from '@countersign/contracts';
import { controlPlaneRoutes, forwarding } from '@countersign/contracts/routes';
import { minimalBody } from '@countersign/contracts/testing';
import { verifies } from '@countersign/testkit/verifies';
import { z } from 'zod';
import { untilAnswered } from '@countersign/testkit/until';
import { personAt, type Person as SignedInPerson } from './_signed-in.ts';
import { addressBook } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

const unknownUlid = '01ARZ3NDEKTSV4RRFFQ69G5FAV';
const unknownWorkspace = `wsp_${unknownUlid}`;
let system: SharedSystem;
let ada: Person;
let eve: Person;
/** The ids of Ada's objects, by the name of the member that contains such an id. */
let adas: Record<string, string>;

type Person = SignedInPerson & { userId: string };
type Members = Record<string, unknown>;

/** Unused ids, by the name of the member that contains them. A route with another member makes these tests fail. */
const unknown: Record<string, string[]> = {
  workspace_id: [unknownWorkspace, 'nonsense'],
  approval_id: [`apr_${unknownUlid}`],
  run_id: [`run_${unknownUlid}`, 'x', '..%2F..', '%00'],
  user_id: [`usr_${unknownUlid}`, 'x', '..%2F..', '%00'],
  task_id: [`tsk_${unknownUlid}`, 'x', '%00'],
  credential_id: [`ses_${unknownUlid}`, 'x'],
  handle: [`hdl_${'A'.repeat(22)}`, 'x', '..%2F..', '%00'],
  object_id: [`rcp_${unknownUlid}`, `apr_${unknownUlid}`, `rpl_${'A'.repeat(22)}`],
  replay_id: [`rpl_${'A'.repeat(22)}`, 'x', '..%2F..', '%00'],
  user_code: ['BCDF-GHJK'],
  report_id: [`wif_${unknownUlid}`, 'x', '%00'],
  plan_id: [`pln_${unknownUlid}`, 'x', '%00'],
  incident_id: [`inc_${unknownUlid}`, 'x', '%00'],
  receipt_id: [`rcp_${unknownUlid}`, 'x', '../..', '%00'],
  lane: ['nobodys', 'x%00'],
  epoch: ['1', '0', '9'.repeat(20), 'x', '%00'],
  connector_id: ['nobodys', 'x%00'],
  shim_id: [`shm_${unknownUlid}`, 'x', '%00'],
  install_id: [`cin_${unknownUlid}`, 'x', '%00'],
};
/** Filters of lists. An unused id in a filter results in an empty list. */
const filters = ['session_id', 'approval_id'];
/**
 * Ada has no such ids here. A code has no owner until it is answered. Other tests cover the privacy of reports and of
 * connectors.
 */
const ofNobody = ['user_code', 'report_id', 'lane', 'connector_id', 'install_id', 'shim_id', 'epoch'];
/** Names that their authors choose freely. */
const chosen = ['put-policy-shadow lane'];

/** Members that a schema does not describe, or whose value matters here. */
const chosenMembers: Record<string, Members> = {
  // A run is started for an existing or for a new task, and the id of the task is tested.
  'create-console-run': { task_id: `tsk_${unknownUlid}` },
  // Tests share the system, so each file has its own addresses.
  'create-console-member': { email: address('taken') },
  // The role with the most rights.
  'put-console-member': { role: 'owner' },
  // A proof is either a code or an assertion.
  'finish-reauth': { code: '123456' },
  // Only public handles can be opened without a session.
  'create-evidence-handle': { public: true },
};
const bodyIds: Record<string, string[]> = {
  'create-console-run': ['task_id'],
  'create-policy-test': ['receipt_id'],
  'create-evidence-handle': ['object_id'],
};

beforeAll(async () => {
  system = await sharedSystem();
  [ada, eve] = [await person(address('ada')), await person(address('eve'))];
  adas = await thingsOf(ada);
});

async function person(email: string): Promise<Person> {
  const signedIn = await personAt(system.gatewayUrl, email);
  const userId = String((await signedIn.tab.send('/api/session')).body['user_id']);
  return { ...signedIn, userId };
}

async function thingsOf({ client, tab, workspaceId, userId }: Person): Promise<Record<string, string>> {
  const place = `/api/v1/workspaces/${workspaceId}`;
  const { body } = await tab.send(`${place}/runs`, { method: 'POST', body: { title: 'Secret', description: 'hello' } });
  const { key } = (await client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
  const decided = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'tool.call', tool: 'mail.send', effect_level: 'E3', session_id: 'secret' }),
  });
  const { receipt_id } = (await decided.json()) as { receipt_id: string };
  const approval = await untilAnswered(async () => (await client.listWorkspaceApprovals()).body.data[0]);
  const session = (await tab.send('/api/session')).body;
  const steps = [{ kind: 'freeze', target: 'agent:secret', reason: 'x' }];
  const headers = { 'x-workspace-id': workspaceId };
  const plan = await tab.send('/api/ops/plans', { method: 'POST', headers, body: { steps } });
  const report = { title: 'Secret', severity: 'low', category: 'other', note: 'x' };
  const incident = await tab.send('/api/ops/incidents', { method: 'POST', headers, body: report });
  const named = { method: 'POST', body: { object_id: receipt_id }, headers: { 'x-workspace-id': workspaceId } };
  const { handle } = (await tab.send('/api/audit/handles', named)).body;
  const { replay_id } = (await tab.send('/api/v1/replays', { ...named, body: {} })).body;
  return {
    ...{ object_id: receipt_id, handle: String(handle) },
    ...{ workspace_id: workspaceId, user_id: userId, approval_id: approval.id, receipt_id },
    ...{ run_id: String(body['run_id']), task_id: String(body['task_id']) },
    credential_id: String(session['session_id']),
    plan_id: String(plan.body['plan_id']),
    incident_id: String(incident.body['incident_id']),
    replay_id: String(replay_id),
  };
}

/**
 * The routes that this test requests. Sockets are excluded: their ticket determines the workspace, which `tests/e2e/sockets.test.ts` checks.
 */
const isAsked = ({ auth, provenBy, media }: AnyRoute) =>
  auth === 'session' && provenBy !== 'refresh_cookie' && media !== 'socket';
const routes = Object.values<AnyRoute>(controlPlaneRoutes).filter(isAsked);

type Place = { in: 'path' | 'query' | 'body'; name: string };

/** The places where a route reads an id, besides the workspace id in its path. */
function placesOf(route: AnyRoute): Place[] {
  const path = pathParams(route.path).filter((name) => name !== workspaceParamOf(route));
  const isFound = (name: string) => !chosen.includes(`${route.operation} ${name}`);
  const query = route.query instanceof z.ZodObject ? Object.keys(route.query.shape) : [];
  const inQuery = query.filter((name) => name.endsWith('_id') && !filters.includes(name));
  return [
    ...path.filter(isFound).map((name) => ({ in: 'path' as const, name })),
    ...inQuery.map((name) => ({ in: 'query' as const, name })),
    ...(bodyIds[route.operation] ?? []).map((name) => ({ in: 'body' as const, name })),
  ];
}

type Input = { workspace: string; ids?: Record<string, string>; headers?: Record<string, string> };

async function ask({ tab }: Person, route: AnyRoute, { workspace, ids = {}, headers = {} }: Input) {
  const places = placesOf(route);
  const named = (place: Place['in']) => places.filter((at) => at.in === place).map(({ name }) => name);
  const path = pathParams(route.path).reduce(
    (text, name) => text.replace(`{${name}}`, name === workspaceParamOf(route) ? workspace : (ids[name] ?? 'x')),
    route.path,
  );
  const query = named('query').map((name) => `${name}=${encodeURIComponent(ids[name] ?? '')}`);
  const body = route.body === undefined ? undefined : { ...bodyOf(route), ...picked(ids, named('body')) };
  return tab.send(query.length === 0 ? path : `${path}?${query.join('&')}`, {
    method: route.method,
    headers: { 'x-request-id': 'the-same-request', 'if-match': '"sha256:0"', ...headers },
    ...(body === undefined ? {} : { body }),
  });
}

/** A valid body with as few members as possible, so that only the ids can be wrong. */
function bodyOf(route: AnyRoute): Members {
  return minimalBody(route, chosenMembers[route.operation]);
}

function picked(ids: Record<string, string>, names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, ids[name] ?? '']));
}

function idsOfAda(route: AnyRoute): Record<string, string> {
  return Object.fromEntries(placesOf(route).map(({ name }) => [name, adas[name] ?? 'x']));
}

function idsToTry({ name }: Place): string[] {
  const nobodys = unknown[name];
  if (nobodys === undefined) throw new Error(`These tests do not know the kind of ${name}: add an unused value`);
  const foreign = adas[name];
  if (foreign === undefined && !ofNobody.includes(name)) throw new Error(`Ada has no ${name} that is not Eve's`);
  return foreign === undefined ? nobodys : [foreign, ...nobodys];
}

describe('every route of the control plane', () => {
  verifies(
    'cp.tenancy',
    'gives the same answer for a foreign, an unknown, a malformed and a missing workspace, wherever it is named',
    async () => {
      const answers = new Set<string>();
      let calls = 0;
      for (const route of routes.filter(({ leastRole }) => leastRole !== undefined)) {
        const inPath = workspaceParamOf(route) !== undefined;
        const tryName = async (name: string) => {
          const ids = idsOfAda(route);
          const headers: Record<string, string> = inPath ? {} : { 'x-workspace-id': name };
          const { status, text } = await ask(eve, route, { workspace: name, ids, headers });
          expect([route.operation, name, status, text]).toEqual([route.operation, name, 404, text]);
          answers.add(text);
          calls += 1;
        };
        await Promise.all([ada.workspaceId, unknownWorkspace, 'nonsense', "'%20OR%201=1"].map(tryName));
        const ids = Object.fromEntries(placesOf(route).map((place) => [place.name, 'x']));
        if (!inPath) answers.add((await ask(eve, route, { workspace: '', ids })).text);
      }
      expect(calls).toBeGreaterThan(40);
      expect([...answers]).toHaveLength(1);
      expect([...answers][0]).toContain('"code":"NOT_FOUND"');
    },
  );

  verifies(
    'cp.tenancy',
    'does not find objects of another workspace, with the same answer as for an unknown id',
    async () => {
      const answers = new Set<string>();
      let calls = 0;
      for (const route of routes)
        for (const place of placesOf(route)) {
          const tryId = async (id: string) => {
            const { status, text } = await ask(eve, route, { workspace: eve.workspaceId, ids: { [place.name]: id } });
            expect([route.operation, id, status, text]).toEqual([route.operation, id, 404, text]);
            answers.add(text);
            calls += 1;
          };
          await Promise.all(idsToTry(place).map(tryId));
        }
      expect(calls).toBeGreaterThan(20);
      expect([...answers]).toHaveLength(1);
      expect([...answers][0]).toContain('"code":"NOT_FOUND"');
      await expectUntouched();
    },
  );

  verifies('cp.tenancy', 'is covered by these tests, if browsers can reach it', () => {
    const existing = Object.values<AnyRoute>(controlPlaneRoutes).map(({ operation }) => operation);
    const passedOn = forwarding.filter(({ to }) => to === 'control-plane').map(({ route }) => route.operation);
    expect(passedOn.filter((operation) => !existing.includes(operation))).toEqual([]);
    for (const route of routes.filter(({ body }) => body !== undefined)) bodyOf(route);
    for (const route of routes) placesOf(route).forEach(idsToTry);
  });
});

async function expectUntouched(): Promise<void> {
  const { data } = (await ada.client.listWorkspaceApprovals()).body;
  expect(data).toMatchObject([{ id: adas['approval_id'], status: 'pending' }]);
  const { name, members } = (await ada.client.getWorkspace({ params: { id: ada.workspaceId } })).body;
  expect([name, members.map(({ role }) => role)]).toEqual([`${ada.email.split('@')[0]}'s workspace`, ['owner']]);
  const headers = { 'x-workspace-id': ada.workspaceId };
  const { body: incident } = await ada.tab.send(`/api/ops/incidents/${adas['incident_id']}`, { headers });
  expect(incident).toMatchObject({ state: 'open', timeline: [{ kind: 'opened' }] });
  expect((await ada.client.listWorkspaceRuns()).body.data.map(({ id }) => id)).toEqual([adas['run_id']]);
  expect((await ada.tab.send('/api/session')).status).toBe(200);
}
