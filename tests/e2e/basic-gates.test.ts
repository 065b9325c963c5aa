import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { ApiKeyScope, createClient, type AnyRoute } from '@countersign/contracts';
import * as commercial from '@countersign/contracts/commercial-gateway';
import * as controlPlane from '@countersign/contracts/control-plane';
import * as gateway from '@countersign/contracts/gateway';
import * as routes from '@countersign/contracts/routes';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { joined, personAt, type Person } from './_signed-in.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { addressBook, inDatabase } from './_system.ts';

const address = addressBook();
const entries: AnyRoute[] = Object.values(routes.commercialRoutes);
const behind: AnyRoute[] = [...Object.values(routes.controlPlaneRoutes), ...Object.values(routes.gatewayRoutes)];
/** Routes with a body or an effect. A blast radius is a read that needs a body. */
const changing = entries.filter(({ path, method }) => path.startsWith('/api/basic/') && method !== 'GET');
const doors = changing.filter(({ secondDoorOf, idempotency }) => secondDoorOf !== undefined && !isRead(idempotency));

type Request = { params?: Record<string, string>; body?: object };
type Sent = Request & { bearer: string; headers?: Record<string, string> };
type Refused = [status: number, code: string];

let system: SharedSystem;
let ada: Person;
let mel: Person;
let eve: Person;
/** A partner who may decide approvals, and an owner who signed in hours ago. */
let bob: Person;
let cat: Person;
let requests: Record<string, { basic: Request; inner: Request }>;
/**
 * Keys of a partner: one with each scope, and one without a scope of the basic API that allows changes. Also a key of a
 * member.
 */
let keys: Record<'all' | 'unscoped' | 'member', string>;

beforeAll(async () => {
  system = await sharedSystem();
  const { gatewayUrl } = system;
  ada = await personAt(gatewayUrl, address('ada'));
  eve = await personAt(gatewayUrl, address('eve'));
  mel = await joined(ada, await personAt(gatewayUrl, address('mel')), 'member');
  bob = await joined(ada, await personAt(gatewayUrl, address('bob')), 'partner');
  cat = await joined(ada, await personAt(gatewayUrl, address('cat')), 'owner');
  const [session] = (await cat.client.listSessions()).body.data;
  const statement = "UPDATE sessions SET created_at = created_at - interval '6 hours' WHERE id = $1";
  await inDatabase(system.dataDir, { schema: 'gateway', statement, values: [session?.id] });
  const scopes = [...ApiKeyScope.options];
  const changes = ['write', 'basic:write'];
  keys = {
    all: await keyOf('partner', scopes),
    unscoped: await keyOf(
      'partner',
      scopes.filter((scope) => !changes.includes(scope)),
    ),
    member: await keyOf('member', scopes),
  };
  requests = await requestsOf();
});

async function keyOf(role: 'member' | 'partner', scopes: ApiKeyScope[]): Promise<string> {
  const body = { name: 'ci', role, scopes, expiresInDays: 1 } as const;
  return (await ada.client.createApiKey({ body })).body.key;
}

async function approvalId(): Promise<string> {
  const headers = { authorization: `Bearer ${keys.all}`, 'content-type': 'application/json' };
  const call = { action: 'tool.call', session_id: 's-1', args: {}, tool: 'mail.send', effect_level: 'E3' };
  const request = { method: 'POST', headers, body: JSON.stringify(call) };
  const answer = await fetch(new URL('/api/v1/evaluate', system.gatewayUrl), request);
  const { approval } = (await answer.json()) as { approval: { approval_id: string } }; // the starter policy escalates E3
  return approval.approval_id;
}

/** A valid request for each basic route and for the route that it forwards to. Each new route needs an entry here. */
async function requestsOf(): Promise<typeof requests> {
  const headers = () => ({ authorization: `Bearer ${ada.token}`, 'x-workspace-id': ada.workspaceId });
  const person = createClient(
    { createIncident: controlPlane.createIncident, createPlan: controlPlane.createPlan },
    { baseUrl: system.gatewayUrl, headers },
  );
  const report = { title: 'A leak', severity: 'high', category: 'conduct', note: 'seen', receipts: [] } as const;
  const { incident_id } = (await person.createIncident({ body: { ...report, receipts: [] } })).body;
  const steps = [{ kind: 'freeze', target: 'agent:crawler', reason: 'It was seen' }];
  const drafted = { steps, ttl_seconds: 600 };
  const { plan_id, plan_hash } = (await person.createPlan({ body: drafted as never })).body; // branded by the schema
  const id = ada.workspaceId;
  const workspace_id = id;
  const approval_id = await approvalId();
  const key_id = (await ada.client.listApiKeys()).body.data[0]?.id ?? '';
  const hook = { channel: 'webhook', target: 'https://example.org/hook' };
  const subscribed = { ...hook, eventTypes: ['app.order.paid'] };
  const event = { type: 'app.order.paid', data: {} };
  const moved = { to: 'acked', note: 'Mine' };
  const denied = { decision: 'deny', reason: 'No' };
  const delivery_id = await deliveredOnce();
  const invited = { email: 'someone@example.org', role: 'member' };
  return {
    'create-basic-workspace': { basic: { body: { name: 'More' } }, inner: { body: { name: 'More' } } },
    'create-basic-member': { basic: { body: invited }, inner: { params: { workspace_id }, body: invited } },
    'create-basic-key': { basic: { body: { name: 'ci' } }, inner: { body: { name: 'ci' } } },
    'revoke-basic-key': { basic: { params: { key_id } }, inner: { params: { id: key_id } } },
    'resolve-basic-approval': {
      basic: { params: { approval_id }, body: denied },
      inner: { params: { id, approval_id }, body: denied },
    },
    'create-basic-evidence': {
      basic: { body: { object_id: approval_id } },
      inner: { body: { object_id: approval_id } },
    },
    'create-basic-incident': { basic: { body: report }, inner: { body: report } },
    'transition-basic-incident': {
      basic: { body: { incident_id, ...moved } },
      inner: { params: { incident_id }, body: moved },
    },
    'create-basic-plan': { basic: { body: drafted }, inner: { body: drafted } },
    'approve-basic-plan': {
      basic: { body: { plan_id, plan_hash } },
      inner: { params: { plan_id }, body: { plan_hash } },
    },
    'commit-basic-plan': {
      basic: { body: { plan_id, plan_hash } },
      inner: { params: { plan_id }, body: { plan_hash } },
    },
    'put-basic-subscription': {
      basic: { body: { ...hook, event_types: ['app.order.paid'] } },
      inner: { params: { id }, body: subscribed },
    },
    'emit-basic-event': {
      basic: { body: { ...event, dedupe_key: 'one' } },
      inner: { params: { id }, body: { ...event, dedupeKey: 'one' } },
    },
    'redrive-basic-delivery': {
      basic: { params: { delivery_id } },
      inner: { params: { id, deliveryId: delivery_id } },
    },
  };
}

/** A delivered notification, so that only a gate can reject a second delivery. */
async function deliveredOnce(): Promise<string> {
  const receiver = createServer((_req, res) => void res.writeHead(204).end());
  await new Promise<void>((listening) => receiver.listen(0, '127.0.0.1', listening));
  const { port } = receiver.address() as AddressInfo; // a TCP server has this address type
  const params = { id: ada.workspaceId };
  const type = 'app.order.counted';
  const body = { channel: 'webhook', target: `http://127.0.0.1:${port}/`, eventTypes: [type] } as const;
  await ada.client.createSubscription({ params, body: { ...body, eventTypes: [type] } });
  await ada.client.emitEvent({ params, body: { type, dedupeKey: 'first', data: {} } });
  const id = await untilAnswered(async () => {
    const [one] = (await ada.client.listDeliveries({ params })).body.data;
    return one?.state === 'delivered' && one.id;
  });
  receiver.close();
  return id;
}

async function refusalOf(route: AnyRoute, { params = {}, body, bearer, headers = {} }: Sent): Promise<Refused> {
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '-');
  const response = await fetch(new URL(path, system.gatewayUrl), {
    method: route.method,
    headers: {
      authorization: `Bearer ${bearer}`,
      'x-workspace-id': ada.workspaceId,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error?: { code: string } };
  return [response.status, error?.code ?? 'none'];
}

const presence: Refused = [401, 'REAUTHENTICATION_REQUIRED'];
const forbidden: Refused = [403, 'PERMISSION_DENIED'];
const notFound: Refused = [404, 'NOT_FOUND'];

type Gate = {
  gate: string;
  by(): Pick<Sent, 'bearer' | 'headers'>;
  refused: Refused;
  /** The request is for the workspace of its caller, and names an object of another workspace. */
  isElsewhere?: true;
};

/** The requests at both routes for each gate. The definition of the inner route determines the gates. */
function gatesOf(inner: AnyRoute): Gate[] {
  const { auth, leastRole = auth, needsPresence, keyScopes, idempotency } = inner;
  const higher = leastRole === 'partner' || leastRole === 'owner';
  const isOfWorkspace = higher || leastRole === 'member';
  const byPrecondition = typeof idempotency === 'object' && idempotency.exempt === 'precondition';
  const decider = () => bob.token;
  const gates: (Gate | false)[] = [
    higher && { gate: 'a member', by: () => ({ bearer: mel.token }), refused: forbidden },
    isOfWorkspace && { gate: 'a stranger', by: () => ({ bearer: eve.token }), refused: notFound },
    isOfWorkspace && {
      ...{ gate: 'an owner elsewhere', refused: notFound, isElsewhere: true },
      by: () => ({ bearer: eve.token, headers: { 'x-workspace-id': eve.workspaceId, 'if-match': '"1"' } }),
    },
    needsPresence === true && { gate: 'a person who left', by: () => ({ bearer: cat.token }), refused: presence },
    keyScopes === undefined && { gate: 'any key', by: () => ({ bearer: keys.all }), refused: forbidden },
    { gate: 'a key without scope', by: () => ({ bearer: keys.unscoped }), refused: forbidden },
    higher && { gate: 'a key of a member', by: () => ({ bearer: keys.member }), refused: forbidden },
    byPrecondition && {
      gate: 'no If-Match',
      by: () => ({ bearer: decider() }),
      refused: [428, 'PRECONDITION_REQUIRED'],
    },
    byPrecondition && {
      gate: 'a stale If-Match',
      by: () => ({ bearer: decider(), headers: { 'if-match': '"99"' } }),
      refused: [412, 'PRECONDITION_FAILED'],
    },
  ];
  return gates.filter((gate) => gate !== false);
}

function innerOf({ secondDoorOf }: AnyRoute): AnyRoute {
  const inner = behind.find(({ operation }) => operation === secondDoorOf);
  if (inner === undefined) throw new Error(`No route is named ${secondDoorOf}`);
  return inner;
}

function isRead(idempotency: AnyRoute['idempotency']): boolean {
  return typeof idempotency === 'object' && idempotency.exempt === 'reads';
}

const matrix = doors.flatMap((route) =>
  gatesOf(innerOf(route)).map((gate) => ({ route, gate, name: route.operation })),
);

function namesObject({ params, body = {} }: Request): boolean {
  return params !== undefined || Object.keys(body).some((name) => name.endsWith('_id'));
}

/** All state that these requests could change. */
async function stateOf(): Promise<unknown> {
  const reads: [AnyRoute, Request?][] = [
    [commercial.listBasicIncidents],
    [commercial.listBasicPlans],
    [commercial.listBasicApprovals],
    [commercial.listBasicEvidence],
    [commercial.listBasicMembers],
    [commercial.listBasicSubscriptions],
    [commercial.listBasicDeliveries],
    [commercial.listBasicWorkspaces],
    [gateway.listInvites, { params: { id: ada.workspaceId } }],
  ];
  const bodies = [];
  for (const [{ path }, { params = {} } = {}] of reads) {
    const headers = { authorization: `Bearer ${ada.token}`, 'x-workspace-id': ada.workspaceId };
    const url = new URL(path.replace('{id}', params['id'] ?? ''), system.gatewayUrl);
    const response = await fetch(url, { headers });
    expect([path, response.status]).toEqual([path, 200]);
    bodies.push(await response.text());
  }
  const { data } = (await ada.client.listApiKeys()).body;
  return [...bodies, data.map(({ id, revokedAt }) => [id, revokedAt])];
}

describe('each gate of the route behind a basic route', () => {
  verifies(
    'cg.doors',
    'also rejects its caller at the basic route, with the same code, and nothing changes',
    async () => {
      await untilAnswered(
        async () => (await refusalOf(commercial.listBasicWorkspaces, { bearer: ada.token }))[0] === 200,
      );
      const before = await stateOf();
      const seen = [];
      const expected = [];
      for (const { route, gate, name } of matrix) {
        const request = requests[name];
        if (request === undefined) throw new Error(`${name} needs an entry in requestsOf`);
        if (gate.isElsewhere === true && !namesObject(request.basic)) continue;
        const { params } = request.inner;
        const place =
          gate.isElsewhere === true
            ? { ...params, ...(params?.['id'] === ada.workspaceId && { id: eve.workspaceId }) }
            : params;
        const inner = await refusalOf(innerOf(route), {
          ...request.inner,
          ...(place && { params: place }),
          ...gate.by(),
        });
        const basic = await refusalOf(route, { ...request.basic, ...gate.by() });
        seen.push([name, gate.gate, inner, basic]);
        expected.push([name, gate.gate, gate.refused, gate.refused]);
      }
      expect(seen).toEqual(expected);
      expect(await stateOf()).toEqual(before);
    },
  );

  it('is tested for each changing route, except for objects of the commercial gateway itself', () => {
    const own = changing.filter(({ secondDoorOf }) => secondDoorOf === undefined).map(({ operation }) => operation);
    expect(own.sort()).toEqual([
      'create-environment',
      'create-project',
      'record-spend',
      'start-runtime',
      'stop-runtime',
    ]);
    expect(doors.map(({ operation }) => operation).sort()).toEqual(Object.keys(requests).sort());
    expect(matrix.length).toBeGreaterThan(40);
  });
});
