import { beforeAll, describe, expect } from '@jest/globals';
import { ApiKeyScope, createClient, keyPrincipal, type AnyRoute, type Right } from '@countersign/contracts';
import * as commercial from '@countersign/contracts/commercial-gateway';
import { bootstrapOrg } from '@countersign/contracts/control-plane';
import { gatewayRoutes, forwarding } from '@countersign/contracts/routes';
import { nodeProvider } from '@countersign/crypto/node';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { parseKeySet, verifyReceipt } from '@countersign/verifier';
import { PolicyDesk } from './_policy-desk.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';
import { addressBook, inDatabase, kernelClient } from './_system.ts';

const address = addressBook();
/** Acts that only people may do: approve, commit, resume, and create or end credentials. */
const ofPeople: ReadonlySet<Right | undefined> = new Set<Right>([
  ...(['approval.decide', 'plan.approve', 'plan.commit', 'policy.activate', 'stop.lift'] as const),
  ...(['own_key.manage', 'key.manage', 'agent_key.manage', 'own_passkey.manage'] as const),
]);
const atTheGateway: AnyRoute[] = [...Object.values(gatewayRoutes), ...forwarding.map(({ route }) => route)];
const forPeople = atTheGateway.filter(({ method, right }) => method !== 'GET' && ofPeople.has(right));

/** Bodies of routes that read the body before the role of the caller. */
const bodies: Record<string, object> = { 'resolve-workspace-approval': { status: 'approved' } };

let system: SharedSystem;
let desk: PolicyDesk;
let count = 0;

type Made = { key: string; id: string; principal: string };
type Decided = { verdict: string; reason_code: string; receipt_id: string };
type Answer = { status: number; body: { error?: { code: string } } & Partial<Decided> };

beforeAll(async () => {
  system = await sharedSystem();
  desk = await PolicyDesk.open(system.gatewayUrl, address('ada'));
  const bearer = desk.owner.token;
  const person = createClient(
    { bootstrapOrg, createEnvironment: commercial.createEnvironment },
    { baseUrl: system.gatewayUrl, headers: () => ({ authorization: `Bearer ${bearer}`, ...inWorkspace() }) },
  );
  await person.bootstrapOrg({ body: { name: 'Keys' } });
  for (const environment of ['dev', 'prod'] as const)
    // The commercial gateway learns of the organisation from an event.
    await untilAnswered(() =>
      person.createEnvironment({ body: { environment, description: '' } }).then(
        () => true,
        () => false,
      ),
    );
});

const inWorkspace = () => ({ 'x-workspace-id': desk.owner.workspaceId });

async function send(
  bearer: string,
  { method, path }: Pick<AnyRoute, 'method' | 'path'>,
  body?: object,
): Promise<Answer> {
  const response = await fetch(new URL(path, system.gatewayUrl), {
    method,
    headers: {
      authorization: `Bearer ${bearer}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

const reportOf = ({ status, body }: Answer) => [status, body.error?.code];
const forbidden = [403, 'PERMISSION_DENIED'];

async function newKey(
  environment: 'dev' | 'prod',
  scopes: readonly ApiKeyScope[] = ApiKeyScope.options,
): Promise<Made> {
  const body = { name: `ci-${(count += 1)}`, role: 'partner', scopes, environment };
  const response = await fetch(new URL(commercial.createBasicKey.path, system.gatewayUrl), {
    method: 'POST',
    headers: { authorization: `Bearer ${desk.owner.token}`, 'content-type': 'application/json', ...inWorkspace() },
    body: JSON.stringify(body),
  });
  const { key, key_id } = (await response.json()) as { key: string; key_id: string };
  expect(response.status).toBe(201);
  return { key, id: key_id, principal: keyPrincipal(key_id as never, environment) };
}

const evaluate = ({ key }: Made) =>
  send(
    key,
    { method: 'POST', path: '/api/v1/evaluate' },
    { action: 'tool.call', tool: 'crm.read', effect_level: 'E1', session_id: 'ci', args: {} },
  );

describe('a key', () => {
  verifies(
    'cg.keys',
    'of production is denied by a rule on its principal, while the sandbox key passes, as sealed receipts show',
    async () => {
      const [prod, dev] = [await newKey('prod'), await newKey('dev')];
      for (const key of [prod, dev]) expect((await evaluate(key)).body.verdict).toBe('ALLOW');
      const { bundle } = await desk.inForce();
      const rule = { id: 'no-production', effect: 'deny' as const, match: { principal: ['key:prod*'] } };
      const { policy_hash } = await desk.draft({ ...bundle, name: 'no-production', rules: [...bundle.rules, rule] });
      const activated = await desk.activate(policy_hash, await desk.report(policy_hash));
      expect([activated.status, activated.text]).toEqual([200, activated.text]);

      const [denied, allowed] = [(await evaluate(prod)).body, (await evaluate(dev)).body];
      expect([denied.verdict, denied.reason_code]).toEqual(['DENY', 'POLICY_DENIED']);
      expect(allowed.verdict).toBe('ALLOW');
      const ledger = kernelClient(system, desk.owner.workspaceId);
      const trust = parseKeySet((await ledger.listTrustKeys()).body);
      for (const [decided, { principal }, verdict] of [
        [denied, prod, 'DENY'],
        [allowed, dev, 'ALLOW'],
      ] as const) {
        const { body: receipt } = await ledger.getReceipt({ params: { receipt_id: decided.receipt_id as never } }); // branded by the schema
        expect(receipt.payload).toMatchObject({ principal_id: principal, verdict, policy_hash });
        verifyReceipt(receipt, trust, nodeProvider);
      }
    },
  );

  verifies('cg.keys', 'can call what its scopes allow, until it expires or is revoked', async () => {
    const [reader, expired, revoked] = [await newKey('dev', ['basic:read']), await newKey('dev'), await newKey('dev')];
    const { listBasicMembers, emitBasicEvent, recordSpend, stopRuntime } = commercial;
    expect(reportOf(await send(reader.key, listBasicMembers))).toEqual([200, undefined]);
    const event = { type: 'app.order.paid', dedupe_key: 'one', data: {} };
    expect(reportOf(await send(reader.key, emitBasicEvent, event))).toEqual(forbidden);
    expect(reportOf(await evaluate(reader))).toEqual(forbidden);
    const others: [AnyRoute, object?][] = [[recordSpend, {}], [stopRuntime]];
    for (const [route, body] of others) expect(reportOf(await send(reader.key, route, body))).toEqual(forbidden);
    expect((await send(expired.key, emitBasicEvent, event)).status).toBe(202);
    const statement = "UPDATE api_keys SET expires_at = now() - interval '1 second' WHERE id = $1";
    await inDatabase(system.dataDir, { schema: 'gateway', statement, values: [expired.id] });
    await desk.owner.client.revokeApiKey({ params: { id: revoked.id } });
    for (const ended of [expired, revoked])
      for (const answer of [await send(ended.key, listBasicMembers), await evaluate(ended)])
        expect(reportOf(answer)).toEqual([401, 'CREDENTIALS_INVALID']);
  });

  verifies(
    'cg.keys',
    'never approves, commits, resumes or makes keys, at any route of any service and with any scopes',
    async () => {
      const { key } = await newKey('dev');
      const seen = [];
      for (const { operation, method, path } of forPeople) {
        const answer = await send(
          key,
          { method, path: path.replaceAll(/\{\w+\}/g, desk.owner.workspaceId) },
          bodies[operation] ?? {},
        );
        seen.push([operation, ...reportOf(answer)]);
      }
      expect(seen).toEqual(forPeople.map(({ operation }) => [operation, ...forbidden]));
      const names = forPeople.map(({ operation }) => operation);
      // The list must contain routes of each service and kind, since an empty list would pass the checks above.
      for (const name of ['resolve-approval', 'resolve-basic-approval', 'resolve-workspace-approval', 'approve-plan'])
        expect(names).toContain(name);
      for (const name of ['commit-plan', 'commit-basic-plan', 'activate-policy', 'resume-target', 'start-runtime'])
        expect(names).toContain(name);
      for (const name of ['create-api-key', 'create-basic-key', 'create-access-key', 'begin-passkey'])
        expect(names).toContain(name);
      const { data } = (await desk.owner.client.listApiKeys()).body;
      expect(data.filter(({ name }) => name === 'default')).toEqual([]);
    },
  );
});
