import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { SupportReport } from '@countersign/contracts/control-plane';
import { verifies } from '@countersign/testkit/verifies';
import { untilAnswered } from '@countersign/testkit/until';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();

let system: SharedSystem;
let ada: Person;

type Sent = { method?: string; body?: unknown; headers?: Record<string, string> };

beforeAll(async () => {
  system = await sharedSystem();
  ada = await personAt(system.gatewayUrl, address('ada'));
});

const secrets: string[] = [];
function secret(place: string): string {
  const made = `S3CRET-${place}-${randomBytes(6).toString('hex')}`;
  secrets.push(made);
  return made;
}

const report = (who: Person, requestId: string, workspaceId = who.workspaceId) =>
  who.tab.send('/api/ops/support-reports', {
    ...{ method: 'POST', body: { request_id: requestId } },
    headers: { 'x-workspace-id': workspaceId },
  });

async function reportOn(requestId: string, who: Person = ada): Promise<SupportReport & { json: string }> {
  // The report is stored only after the answer.
  const { body, text } = await untilAnswered(async () => {
    const answer = await report(who, requestId);
    return answer.status === 200 && answer;
  });
  return { ...(body as SupportReport), json: text };
}

/** Secrets in every place where a caller can send values that we do not interpret. */
const everywhere = () => ({
  'x-other': secret('header'),
  'idempotency-key': secret('idempotency'),
  referer: `http://127.0.0.1/${secret('referer')}`,
  'user-agent': secret('agent'),
  tracestate: `a=${secret('trace')}`,
});

async function fail(path: string, { method = 'GET', body, headers = {} }: Sent, credential: Record<string, string>) {
  const content: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const answer = await fetch(new URL(path, system.gatewayUrl), {
    method,
    headers: { ...everywhere(), ...content, ...credential, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return { status: answer.status, requestId: answer.headers.get('x-request-id') ?? '' };
}

describe('a support report', () => {
  verifies(
    'sys.support',
    'of any failed request states the facts of the failure, and contains no secret and no value of the request',
    async () => {
      const place = `/api/v1/workspaces/${ada.workspaceId}`;
      const { key } = (await ada.client.createApiKey({ body: { name: 'agent' } as never })).body; // the schema adds defaults
      secrets.push(key.slice(9), ada.token.slice(3));
      const post = (body: unknown): Sent => ({ method: 'POST', body });
      const person = { authorization: `Bearer ${ada.token}`, 'x-workspace-id': ada.workspaceId };
      const stop = () => ({ target: `tool:${secret('target')}`, reason: secret('reason'), [secret('name')]: 1 });
      const calls: [path: string, sent: Sent, credential: Record<string, string>][] = [
        // Routes of the gateway.
        [`/api/tasks/${secret('id')}`, {}, person],
        [`/api/tasks?${secret('name')}=${secret('value')}`, {}, person],
        [
          '/api/tasks',
          post({ title: [secret('value')], [secret('name')]: { [secret('name')]: secret('deep') } }),
          person,
        ],
        // Routes of the control plane.
        ['/api/ops/freeze', post(stop()), person],
        ['/api/ops/throttle', post({ target: 'tool:.', reason: secret('reason'), limit: 7 }), person],
        [`${place}/policy/draft`, { method: 'PUT', body: { text: secret('draft') } }, person],
        [`${place}/runs/${secret('run')}`, {}, person],
        ['/api/auth/reauth/finish', post({ login_id: secret('login'), code: '123456' }), person],
        // Routes of the kernel.
        ['/v1/chat/completions', post({ model: secret('model'), messages: secret('messages') }), { 'x-api-key': key }],
        [
          '/api/v1/evaluate',
          post({ tool: secret('tool'), args: { [secret('arg')]: secret('value') } }),
          { 'x-api-key': key },
        ],
        [`/api/v1/receipts?session_id=${secret('session')}&odd=${secret('value')}`, {}, person],
        [`/api/v1/receipts/${secret('receipt')}`, {}, person],
      ];
      for (const [path, sent, credential] of calls) {
        const { status, requestId } = await fail(path, sent, credential);
        expect([path, status]).toEqual([path, expect.any(Number)]);
        expect(status).toBeGreaterThanOrEqual(400);
        const { json, ...output } = await reportOn(requestId);
        expect(output).toMatchObject({
          ...{ type: 'countersign.support-report.v1', request_id: requestId, status, workspace_id: ada.workspaceId },
          versions: { gateway: '0.1.0', control_plane: '0.1.0', kernel: '0.1.0' },
          mode: { mode: 'enforce', boundary: 'ready' },
          error_code: expect.stringMatching(/^[A-Z_]+$/),
          policy: { policy_hash: expect.stringMatching(/^sha256:/), of: 'in_force' },
        });
        for (const value of [requestId, output.error_code, output.policy?.policy_hash, 'enforce'])
          expect(output.text).toContain(value);
        const low = json.toLowerCase();
        expect(secrets.filter((value) => low.includes(value.toLowerCase()))).toEqual([]);
      }
      expect(secrets.length).toBeGreaterThan(70);
    },
  );

  verifies(
    'sys.support',
    'exists for a request without a workspace, on an unknown path, or from an agent that only the kernel knows',
    async () => {
      const made = { kind: 'agent', principal_id: 'crawler', expires_in_days: 1 };
      const headers = { 'x-workspace-id': ada.workspaceId };
      const { body: agentKey } = await ada.tab.send('/api/v1/access-keys', { method: 'POST', headers, body: made });
      const [key, key_id] = [String(agentKey['key']), String(agentKey['key_id'])];
      secrets.push(key.slice(9));
      const person = { authorization: `Bearer ${ada.token}` };
      const agent = { authorization: `Bearer ${key}` };
      const body = { tool: secret('tool'), args: { [secret('arg')]: secret('value') } };
      const { id: userId } = (await ada.client.getMe()).body.user;
      const ofHers = { workspace_id: null, principal: userId };
      const ofAgent = { workspace_id: ada.workspaceId, principal: key_id, auth: 'agent_key' };
      const calls: [path: string, sent: Sent, credential: Record<string, string>, found: object][] = [
        [`/api/${secret('path')}/${secret('path')}?${secret('name')}=1`, { method: 'POST', body }, person, ofHers],
        [`/api/me?${secret('name')}=${secret('value')}`, {}, person, ofHers],
        ['/api/bootstrap', { method: 'POST', body: { name: [secret('name')] } }, person, ofHers],
        ['/api/v1/evaluate', { method: 'POST', body }, agent, ofAgent],
        ['/v1/chat/completions', { method: 'POST', body: { model: secret('model') } }, agent, ofAgent],
      ];
      for (const [path, sent, credential, found] of calls) {
        const { status, requestId } = await fail(path, sent, credential);
        const { json, ...message } = await reportOn(requestId);
        expect(message).toMatchObject({ status, request_id: requestId, mode: { mode: 'enforce' }, ...found });
        expect(message.policy?.policy_hash).toMatch(/^sha256:/);
        const low = json.toLowerCase();
        expect(secrets.filter((value) => low.includes(value.toLowerCase()))).toEqual([]);
      }
    },
  );

  verifies('sys.support', 'shows the shape of a body that the gateway forwarded unread', async () => {
    const { key } = (await ada.client.createApiKey({ body: { name: 'shapes' } as never })).body; // as above
    const ofKernel = { action: 'tool.call', tool: 'crm.read', args: { a: 1 }, session_id: 5, [secret('name')]: 1 };
    const kernel = await fail('/api/v1/evaluate', { method: 'POST', body: ofKernel }, { 'x-api-key': key });
    const person = { authorization: `Bearer ${ada.token}`, 'x-workspace-id': ada.workspaceId };
    const ofControl = { target: `agent:${secret('who')}`, reason: 'x'.repeat(600), ttl_seconds: 'long' };
    const control = await fail('/api/ops/freeze', { method: 'POST', body: ofControl }, person);
    const shapes = [await reportOn(kernel.requestId), await reportOn(control.requestId)].map(
      ({ request }) => request.body,
    );
    expect(shapes).toMatchObject([
      { state: 'read', content_type: 'application/json', bytes: JSON.stringify(ofKernel).length, unknown_members: 2 },
      { state: 'read', content_type: 'application/json', bytes: JSON.stringify(ofControl).length, unknown_members: 0 },
    ]);
    expect(shapes[0]?.members).toContainEqual({ path: 'session_id', type: 'number', size: null });
    expect(shapes[1]?.members).toContainEqual({ path: 'reason', type: 'string', size: 600 });
    expect(shapes[1]?.members).toContainEqual({ path: 'ttl_seconds', type: 'string', size: 4 });
  });

  verifies('sys.support', 'of a decided call names its verified receipt and the policy of that time', async () => {
    const bob = await personAt(system.gatewayUrl, address('bob'));
    const headers = { 'x-workspace-id': bob.workspaceId };
    const target = `workspace:${bob.workspaceId}`;
    await bob.tab.send('/api/ops/freeze', { method: 'POST', headers, body: { target, reason: 'a leak' } });
    const { key } = (await bob.client.createApiKey({ body: { name: 'agent' } as never })).body; // as above
    const body = { model: secret('model'), messages: [{ role: 'user', content: secret('prompt') }] };
    const { requestId } = await fail('/v1/chat/completions', { method: 'POST', body }, { 'x-api-key': key });
    const { json, ...denial } = await reportOn(requestId, bob);
    expect(denial).toMatchObject({
      ...{ reason_code: 'SYSTEM_FROZEN', mode: { boundary: 'closed' } },
      decision: { verdict: 'DENY', reason_code: 'SYSTEM_FROZEN', verified: true, fault: null },
      policy: { of: 'decision' },
    });
    expect(denial.text).toContain(denial.decision?.receipt_id);
    expect(secrets.filter((value) => json.includes(value))).toEqual([]);
  });

  it('can be read by the person of the request, and by partners of its workspace', async () => {
    const [eve, carl] = [
      await personAt(system.gatewayUrl, address('eve')),
      await personAt(system.gatewayUrl, address('carl')),
    ];
    const params = { id: ada.workspaceId };
    const email = address('carl');
    const { inviteToken: token } = (await ada.client.createInvite({ params, body: { email, role: 'member' } })).body;
    await carl.client.acceptInvite({ params: { token }, body: { email } });
    const headers = { 'x-workspace-id': ada.workspaceId };
    const failed = async (who: Person) => {
      const { status, headers: answered } = await who.tab.send('/api/tasks?odd=1', { headers });
      expect(status).toBe(400);
      return answered.get('x-request-id') ?? '';
    };
    const [ofAda, ofCarl] = [await failed(ada), await failed(carl)];
    await reportOn(ofAda);
    await reportOn(ofCarl);
    const strangers = [
      await report(carl, ofAda, ada.workspaceId),
      await report(eve, ofAda),
      await report(eve, ofAda, ada.workspaceId),
      await report(ada, 'req-of-nobody'),
    ];
    expect(strangers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await report(carl, ofCarl, ada.workspaceId)).status).toBe(200);
  });
});
