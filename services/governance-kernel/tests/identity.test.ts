import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isAppError, type AnyRoute } from '@countersign/contracts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { TestAgent, type Changes } from './_agents.ts';
import { movableClock, refusal, answerOf } from './_caller.ts';
import { adminKey, startTestKernel, type TestKernel } from './_kernel.ts';
import { allRoutes, rawCall } from './_raw.ts';

const time = movableClock('2026-11-21T10:00:00.000Z');
let test: TestKernel;
let second: StartedKernel;
beforeAll(async () => {
  test = await startTestKernel({ overrides: { clock: time.clock } });
  second = await startKernel(kernelConfigFrom(test.env), { clock: time.clock });
});
afterAll(async () => {
  await second.stop();
  await test.close();
});

const operator = (tenant = 'acme') => test.as(tenant, 'operator');
const agents = (principal: string) => ({ directory: 'agents' as const, principal });
const operators = (principal: string) => ({ directory: 'operators' as const, principal });
const enrolled = (params: ReturnType<typeof agents> | ReturnType<typeof operators>, tenant = 'acme') =>
  operator(tenant)
    .putIdentity({ params, body: { display_name: 'Somebody' } })
    .then(({ body }) => body);
const challenged = async (agent: TestAgent) =>
  (await operator(agent.tenant).createKeyChallenge({ params: { principal: agent.principal } })).body.nonce;
const presented = (agent: TestAgent, proof: string) =>
  operator(agent.tenant).enrolIdentityKey({ params: { principal: agent.principal }, body: { proof } });

let made = 0;
async function newAgent(tenant = 'acme'): Promise<TestAgent> {
  const agent = new TestAgent(test, { tenant, principal: `agent-${(made += 1)}` });
  await enrolled(agents(agent.principal), tenant);
  return agent;
}

async function trust(tenant: string) {
  const { data } = (await test.as(tenant).listReceipts({ query: { session_id: 'identities' } })).body;
  return data.map(({ payload: { kind, action, resource, principal_id } }) => [kind, action, resource, principal_id]);
}

describe('the registry', () => {
  it('lists agents and operators separately, newest first, with their keys and who enrolled them', async () => {
    const tenant = 'initech';
    const first = new TestAgent(test, { tenant, principal: 'scout' });
    const entry = await first.enrol(test);
    await enrolled(agents('writer'), tenant);
    await enrolled(operators('carol'), tenant);
    expect(entry).toEqual({
      principal_id: 'scout',
      kind: 'agent',
      display_name: 'The scout',
      state: 'active',
      keys: [{ kid: first.kid, created_at: time.clock().toISOString(), created_by: 'operator' }],
      enrolled_at: time.clock().toISOString(),
      enrolled_by: 'operator',
      revoked_at: null,
      revoked_by: null,
    });
    const page = (await operator(tenant).listAgents({ query: { limit: 1 } })).body;
    expect(page.data.map(({ principal_id }) => principal_id)).toEqual(['writer']);
    const rest = (await operator(tenant).listAgents({ query: { limit: 1, cursor: page.next_cursor ?? '' } })).body;
    expect(rest).toEqual({ data: [entry], next_cursor: null });
    const { data } = (await operator(tenant).listOperators({ query: {} })).body;
    expect(data.map(({ principal_id, kind, keys }) => [principal_id, kind, keys])).toEqual([['carol', 'operator', []]]);
  });

  it('seals one receipt for each change and none for a repeated request, and records the enrolled key', async () => {
    const tenant = 'hooli';
    const agent = new TestAgent(test, { tenant, principal: 'scout' });
    await agent.enrol(test);
    const params = agents('scout');
    await operator(tenant).putIdentity({ params, body: { display_name: 'The scout' } });
    await operator(tenant).putIdentity({ params, body: { display_name: 'Scout' } });
    await operator(tenant).revokeIdentityKey({ params: { principal: 'scout', kid: agent.kid } });
    await operator(tenant).revokeIdentityKey({ params: { principal: 'scout', kid: agent.kid } });
    await operator(tenant).revokeIdentity({ params });
    await operator(tenant).revokeIdentity({ params });
    expect(await trust(tenant)).toEqual(
      ['identity.revoke', 'identity.revoke_key', 'identity.rename', 'identity.enrol_key', 'identity.enrol'].map(
        (action) => ['trust', action, 'agent:scout', 'operator'],
      ),
    );
    const { rows } = await test.pool.query<{ record: string }>(
      `SELECT record FROM ledger WHERE tenant_id = $1 AND action = 'identity.enrol_key'`,
      [tenant],
    );
    expect(JSON.parse(rows[0]?.record ?? '')).toMatchObject({
      intent: { facts: { kid: agent.kid, public_key: agent.jwk.x, principal_id: 'scout' } },
    });
  });

  it('never admits a revoked principal again, and publishes each revocation once', async () => {
    const agent = await newAgent();
    await operator().revokeIdentity({ params: agents(agent.principal) });
    const before = (await operator().revokeIdentity({ params: agents(agent.principal) })).body;
    expect(before).toMatchObject({ state: 'revoked', keys: [], revoked_by: 'operator' });
    expect(await refusal(enrolled(agents(agent.principal)))).toBe('ILLEGAL_TRANSITION');
    expect(await refusal(challenged(agent))).toBe('ILLEGAL_TRANSITION');
    const key = { kind: 'agent', principal_id: agent.principal } as never; // the kernel fills in the defaults
    expect(await refusal(operator().createAccessKey({ body: key }))).toBe('ILLEGAL_TRANSITION');
    const { rows } = await test.pool.query(
      `SELECT 1 FROM outbox WHERE type = 'kernel.identity.revoked.v1' AND envelope::text LIKE $1`,
      [`%"${agent.principal}"%`],
    );
    expect(rows).toHaveLength(1);
  });

  it('enrols the holder of an access key once, and revokes only the approver keys of a revoked operator', async () => {
    const tenant = 'umbrella';
    const made = async (kind: 'agent' | 'approver', principal_id: string) =>
      operator(tenant).createAccessKey({ body: { kind, principal_id } as never }); // as above
    for (const kind of ['agent', 'agent', 'approver'] as const) await made(kind, 'dave');
    const existing = (await operator(tenant).listAgents({ query: {} })).body.data;
    expect(existing.map(({ principal_id, state }) => [principal_id, state])).toEqual([['dave', 'active']]);
    await operator(tenant).revokeIdentity({ params: operators('dave') });
    const keys = (await operator(tenant).listAccessKeys({ query: {} })).body.data;
    const ended = (kind: string) =>
      keys.filter((key) => key.kind === kind).map(({ revoked_at }) => revoked_at !== null);
    expect([ended('agent'), ended('approver')]).toEqual([[false, false], [true]]);
  });

  it('refuses empty names and names with invisible or control characters', async () => {
    for (const display_name of ['\u202eresearcher', 'a\u200bb', 'a\nb', ' a', '\u0000', ''])
      expect(await refusal(operator().putIdentity({ params: agents('named'), body: { display_name } }))).toBe(
        'INVALID_REQUEST',
      );
    const { body } = await operator().putIdentity({ params: agents('named'), body: { display_name: 'Zoë 研究 🤖' } });
    expect(body.display_name).toBe('Zoë 研究 🤖');
  });

  it('reads names in headers as UTF-8, and refuses other bytes', async () => {
    const tenant = 'accented';
    await enrolled(agents('bób'), tenant);
    const body = { action: 'tool.call', tool: 'a.b', session_id: 'accented' } as never; // plain strings instead of branded ones
    const decided = async () => answerOf((await test.as(tenant, 'bób').evaluate({ body })).body);
    expect(await decided()).toBe('DENY POLICY_MISSING');
    await operator(tenant).revokeIdentity({ params: agents('bób') });
    expect(await decided()).toMatch(/^DENY (POLICY_MISSING|AGENT_REVOKED)$/);
    const { data } = (await test.as(tenant).listReceipts({ query: { session_id: 'accented' } })).body;
    expect(new Set(data.map(({ payload }) => payload.principal_id))).toEqual(new Set(['bób']));
    const headers = { authorization: `Bearer ${adminKey}`, 'x-gov-tenant-id': tenant, 'x-gov-principal-id': 'b\xf3b' };
    const answer = await fetch(`${test.kernel.url}/api/v1/receipts`, { headers });
    expect([answer.status, (await answer.json()) as object]).toMatchObject([
      400,
      { error: { code: 'INVALID_REQUEST' } },
    ]);
  });

  it('cannot be read or changed by another tenant', async () => {
    const agent = await newAgent();
    await agent.enrol(test);
    const another = operator('stranger');
    const { principal, kid } = agent;
    expect((await another.listAgents({ query: {} })).body.data).toEqual([]);
    expect(await refusal(another.revokeIdentity({ params: agents(principal) }))).toBe('NOT_FOUND');
    expect(await refusal(another.revokeIdentityKey({ params: { principal, kid } }))).toBe('NOT_FOUND');
    expect(await refusal(another.createKeyChallenge({ params: { principal } }))).toBe('NOT_FOUND');
    await enrolled(agents('somebody'));
    const wrongOwner = { principal: 'somebody', kid };
    expect(await refusal(operator().revokeIdentityKey({ params: wrongOwner }))).toBe('NOT_FOUND');
  });
});

describe('the enrolment of a key', () => {
  it('accepts a proof once and a key once', async () => {
    const agent = await newAgent();
    const proof = agent.proof(await challenged(agent));
    expect((await presented(agent, proof)).status).toBe(201);
    expect(await refusal(presented(agent, proof))).toBe('PRECONDITION_FAILED');
    expect(await refusal(presented(agent, agent.proof(await challenged(agent))))).toBe('ALREADY_EXISTS');
  });

  it('never accepts a revoked key again', async () => {
    const agent = await newAgent();
    await presented(agent, agent.proof(await challenged(agent)));
    await operator().revokeIdentityKey({ params: { principal: agent.principal, kid: agent.kid } });
    expect(await refusal(presented(agent, agent.proof(await challenged(agent))))).toBe('ALREADY_EXISTS');
  });

  const another = generateKeyPairSync('ed25519');
  const { x: anotherX } = another.publicKey.export({ format: 'jwk' });
  const smallOrder = `${'A'.repeat(42)}A`;
  const lies: [string, Changes][] = [
    ['is signed by another key', { key: another.privateKey }],
    ['contains a key that did not sign it', { header: { jwk: { kty: 'OKP', crv: 'Ed25519', x: anotherX } } }],
    ['contains a key of small order', { header: { jwk: { kty: 'OKP', crv: 'Ed25519', x: smallOrder } } }],
    ['is for another tenant', { claims: { tenant_id: 'umbrella' } }],
    ['is for another agent', { claims: { sub: 'somebody' } }],
    ['is for another kernel', { claims: { aud: 'https://elsewhere.example' } }],
    ['has the algorithm none', { header: { alg: 'none' }, signature: '' }],
    ['is an agent token', { header: { typ: 'countersign-agent+jwt' } }],
    ['has a critical header', { header: { crit: ['b64'], b64: false } }],
    ['is valid for an hour', { claims: { exp: Math.floor(Date.parse('2026-11-21T11:00:00.000Z') / 1_000) } }],
    ['has expired', { claims: { iat: 1, exp: 61 } }],
    ['begins in the future', { claims: { iat: 4_000_000_000, exp: 4_000_000_060 } }],
    ['has no expiry', { claims: { exp: undefined } }],
    ['names two principals', { claims: { principal: 'admin' } }],
    ['has an unknown nonce', { claims: { nonce: 'x'.repeat(80) } }],
  ];
  it.each(lies)('refuses a proof that %s', async (_what, changes) => {
    const agent = await newAgent();
    const proof = agent.proof(await challenged(agent), changes);
    expect(await refusal(presented(agent, proof))).toBe('INVALID_REQUEST');
    const { data } = (await operator().listAgents({ query: { limit: 1 } })).body;
    expect(data[0]).toMatchObject({ principal_id: agent.principal, keys: [] });
  });

  it('refuses challenges of other tenants and agents, and those that expired or precede the latest key of the agent', async () => {
    const [agent, colleague, stranger] = [await newAgent(), await newAgent(), await newAgent('globex')];
    const reportOf = (nonce: string) => refusal(presented(agent, agent.proof(nonce)));
    expect(await reportOf(await challenged(colleague))).toBe('INVALID_REQUEST');
    expect(await reportOf(await challenged(stranger))).toBe('INVALID_REQUEST');
    const early = await challenged(agent);
    time.advance(300_000);
    expect(await reportOf(early)).toBe('PRECONDITION_FAILED');
    const [one, neighbour] = [await challenged(agent), await challenged(agent)];
    expect((await presented(agent, agent.proof(one))).status).toBe(201);
    const next = new TestAgent(test, agent);
    expect(await refusal(presented(next, next.proof(neighbour)))).toBe('PRECONDITION_FAILED');
  });

  it('accepts only one of two proofs for one challenge, even from two kernels at once', async () => {
    const agent = await newAgent();
    const nonce = await challenged(agent);
    const rivals = [agent, new TestAgent(test, agent)];
    const messages = await Promise.all(
      rivals.map((rival, nth) =>
        rawCall([test.kernel.url, second.url][nth] ?? '', {
          route: routeOf('enrol-identity-key'),
          params: { principal: agent.principal },
          headers: { authorization: `Bearer ${test.env['GOV_ADMIN_API_KEY']}`, 'x-gov-tenant-id': 'acme' },
          body: JSON.stringify({ proof: rival.proof(nonce) }),
        }),
      ),
    );
    expect(messages.map(({ status }) => status).sort()).toEqual([201, 412]);
    const { data } = (await operator().listAgents({ query: { limit: 1 } })).body;
    expect(data[0]?.keys.length).toBe(1);
  });

  const routeOf = (operation: string): AnyRoute => {
    const route = allRoutes.find((candidate) => candidate.operation === operation);
    if (route === undefined) throw new Error(`the contract has no ${operation}`);
    return route;
  };

  it('is refused if the agent has 16 keys, until one of them is revoked', async () => {
    const agent = await newAgent();
    const keys = Array.from({ length: 17 }, () => new TestAgent(test, agent));
    const messages: string[] = [];
    for (const key of keys) {
      const call = presented(agent, key.proof(await challenged(agent)));
      messages.push(
        await call.then(
          () => 'enrolled',
          (error: unknown) => (isAppError(error) ? error.code : String(error)),
        ),
      );
    }
    expect(messages).toEqual([...Array<string>(16).fill('enrolled'), 'ILLEGAL_TRANSITION']);
    await operator().revokeIdentityKey({ params: { principal: agent.principal, kid: keys[0]?.kid ?? '' } });
    const last = keys[16];
    if (last === undefined) throw new Error('there are 17');
    expect((await presented(agent, last.proof(await challenged(agent)))).body.keys.length).toBe(16);
  });
});
