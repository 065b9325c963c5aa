import { createHmac, generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, isAppError, type AnyRoute } from '@countersign/contracts';
import { verifies } from '@countersign/testkit/verifies';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import { createBoundary } from '../src/decision/boundary.ts';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { TestAgent, type Changes } from './_agents.ts';
import { send, ledgerOf, movableClock, newSession, answerOf } from './_caller.ts';
import { decideAndDie } from './_dispatched.ts';
import { kernelRoutes, type KernelClient } from './_kernel.ts';
import { allRoutes, rawCall, refusalCodeOf } from './_raw.ts';
import { deliverSettings, TestGateway } from './_assertions.ts';
import { approve, startUpstreams, toolPolicy, type Upstreams } from './_upstreams.ts';

const time = movableClock(new Date().toISOString());
const gateway = new TestGateway(time.clock);
let site: Upstreams;
let second: StartedKernel;
let agent: TestAgent;
beforeAll(async () => {
  site = await startUpstreams({ GOV_ASSERTION_KEYS: gateway.publicKey }, [], { clock: time.clock });
  await site.test.activate('*', toolPolicy);
  second = await startKernel(kernelConfigFrom(site.test.env), { clock: time.clock });
  agent = await newAgent('researcher');
});
afterAll(async () => {
  await second.stop();
  await site.close();
});

async function newAgent(principal: string, tenant = 'acme'): Promise<TestAgent> {
  const made = new TestAgent(site.test, { tenant, principal });
  await made.enrol(site.test);
  return made;
}

const call = (tool: string, effect: string, session = newSession()) =>
  ({ action: 'tool.call', tool, effect_level: effect, session_id: session }) as never; // strings without brands
const read = (session?: string) => call('lookup', 'E1', session as never);
const codeOfError = (error: unknown) => (isAppError(error) ? error.code : String(error));
const urls = () => [site.test.kernel.url, second.url];

/** Verdict and reason of a read, or the code of its refusal. */
const reportOf = (client: KernelClient, body = read()): Promise<string> =>
  client.evaluate({ body }).then(({ body: reply }) => answerOf(reply), codeOfError);
const toldTo = (who: TestAgent, changes?: Changes, at = site.test.kernel.url) => reportOf(who.client(at, changes));
const withHeaders = (who: TestAgent, more: Record<string, string>) =>
  createClient(kernelRoutes, {
    baseUrl: site.test.kernel.url,
    headers: () => ({ authorization: `Bearer ${who.token()}`, ...more }),
  });

describe('the token of an agent', () => {
  it('proves tenant and principal without other headers, and the record names its key', async () => {
    const { body } = await agent.client(site.test.kernel.url).evaluate({ body: read() });
    expect(body).toMatchObject({
      allow: true,
      receipt: { payload: { tenant_id: 'acme', principal_id: 'researcher' } },
    });
    const [entry] = await ledgerOf(site.test, body.receipt.payload.session_id);
    expect(entry?.record?.identity).toEqual({
      credential: 'agent_token',
      credential_id: agent.kid,
      credential_state: 'active',
      enrolment: 'active',
    });
    const openai = new OpenAI({ baseURL: `${site.test.kernel.url}/v1`, apiKey: agent.token(), maxRetries: 0 });
    const messages = [{ role: 'user' as const, content: 'hi' }];
    expect((await openai.chat.completions.create({ model: 'scripted', messages })).choices).toHaveLength(1);
    const mcp = new Client({ name: 'agent', version: '1' });
    const requestInit = { headers: { authorization: `Bearer ${agent.token()}` } };
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${site.test.kernel.url}/mcp`), { requestInit }));
    expect((await mcp.callTool({ name: 'notes.read_note', arguments: { title: 'none' } })).content).toBeDefined();
    await mcp.close();
    const execution = { tool: 'notes.write_note', args: { id: 'a', text: 'x' }, session_id: newSession(), context: {} };
    const executed = await agent.client(second.url).executeMcp({ body: execution });
    expect(executed.body.decision.verdict).toBe('ALLOW');
  });

  verifies('kn.auth.classes', 'opens the routes of agents, and no other route of the contract', async () => {
    const headers = { authorization: `Bearer ${agent.token()}` };
    const isAgents = (door: AnyRoute['door']) => ['evaluate', 'chat', 'mcp'].includes(door ?? '');
    const expected = ({ auth, door }: AnyRoute, status: number, code: string) => {
      if (isAgents(door)) return ![401, 403].includes(status);
      return `${status} ${code}` === (auth === 'tenant_scoped' ? '403 PERMISSION_DENIED' : '401 CREDENTIALS_INVALID');
    };
    for (const route of allRoutes.filter(({ auth }) => auth !== 'public')) {
      const { status, text } = await rawCall(site.test.kernel.url, { route, headers });
      const code = refusalCodeOf(route, { status, text });
      expect([route.operation, status, expected(route, status, code)]).toEqual([route.operation, status, true]);
    }
    expect(allRoutes.filter(({ door }) => isAgents(door)).length).toBe(15);
  });

  it('is accepted if headers name the same caller, and refused if they name another caller or the query another tenant', async () => {
    const same = { 'x-gov-tenant-id': 'acme', 'x-gov-principal-id': 'researcher' };
    expect(await reportOf(withHeaders(agent, same))).toBe('ALLOW ALLOWED');
    expect(await reportOf(withHeaders(agent, { 'x-gov-tenant-id': 'umbrella' }))).toBe('PERMISSION_DENIED');
    expect(await reportOf(withHeaders(agent, { 'x-gov-principal-id': 'admin' }))).toBe('PERMISSION_DENIED');
    const query = { tenant_id: 'umbrella' };
    const call = agent.client(site.test.kernel.url).evaluate({ body: read(), query });
    expect(await call.then(() => 'taken', codeOfError)).toBe('PERMISSION_DENIED');
  });

  const another = generateKeyPairSync('ed25519');
  const seconds = (ms: number) => Math.floor((time.clock().getTime() + ms) / 1_000);
  const lies: [string, () => Changes][] = [
    ['is signed by another key', () => ({ key: another.privateKey })],
    ['names a key that is not enrolled', () => ({ header: { kid: 'A'.repeat(43) } })],
    ['has the algorithm none and no signature', () => ({ header: { alg: 'none' }, signature: '' })],
    ['has the algorithm none and a signature', () => ({ header: { alg: 'none' } })],
    ['contains a key', () => ({ header: { jwk: { kty: 'OKP', crv: 'Ed25519', x: 'A'.repeat(43) } } })],
    ['has a critical header', () => ({ header: { crit: ['exp'] } })],
    ['has another token type', () => ({ header: { typ: 'JWT' } })],
    ['is a proof of possession', () => ({ header: { typ: 'countersign-enrolment+jwt' } })],
    ['is for another kernel', () => ({ claims: { aud: 'https://elsewhere.example' } })],
    ['is for several kernels', () => ({ claims: { aud: ['https://elsewhere.example'] } })],
    ['names no kernel', () => ({ claims: { aud: undefined } })],
    ['has expired', () => ({ claims: { iat: seconds(-150_000), exp: seconds(-90_000) } })],
    ['begins in the future', () => ({ claims: { iat: seconds(90_000), exp: seconds(150_000) } })],
    ['is valid for more than five minutes', () => ({ claims: { exp: seconds(301_000) } })],
    ['has no expiry', () => ({ claims: { exp: undefined } })],
    ['has no time of issue', () => ({ claims: { iat: undefined } })],
    ['is for another principal', () => ({ claims: { sub: 'admin' } })],
    ['is for another tenant', () => ({ claims: { tenant_id: 'umbrella' } })],
    ['is for a tenant in another spelling', () => ({ claims: { tenant_id: 'ACME' } })],
    ['contains a role', () => ({ claims: { role: 'owner' } })],
  ];
  it.each(lies)('that %s is refused, and nothing is sealed', async (_what, changes) => {
    const session = newSession();
    const client = agent.client(site.test.kernel.url, changes());
    expect(await reportOf(client, read(session))).toBe('CREDENTIALS_INVALID');
    expect(await ledgerOf(site.test, session)).toEqual([]);
  });

  it('that is signed with its public key as a secret is refused', async () => {
    const [header, claims] = agent.token({ header: { alg: 'HS256' } }).split('.');
    const mac = createHmac('sha256', Buffer.from(agent.jwk.x, 'base64url')).update(`${header}.${claims}`);
    const token = `${header}.${claims}.${mac.digest('base64url')}`;
    const headers = { authorization: `Bearer ${token}` };
    const client = createClient(kernelRoutes, { baseUrl: site.test.kernel.url, headers: () => headers });
    expect(await reportOf(client)).toBe('CREDENTIALS_INVALID');
  });

  it('of an agent with the same name in another tenant proves nothing here, and its key is unknown here', async () => {
    const theirs = await newAgent('researcher', 'umbrella');
    expect(await toldTo(theirs, { claims: { tenant_id: 'acme' } })).toBe('CREDENTIALS_INVALID');
    expect(await toldTo(agent, { header: { kid: theirs.kid } })).toBe('CREDENTIALS_INVALID');
    await site.test.as('umbrella').revokeIdentity({ params: { directory: 'agents', principal: 'researcher' } });
    expect(await toldTo(agent)).toBe('ALLOW ALLOWED');
  });

  it('is refused after it expires, even if it was verified before', async () => {
    const token = agent.token();
    const headers = { authorization: `Bearer ${token}` };
    const client = createClient(kernelRoutes, { baseUrl: site.test.kernel.url, headers: () => headers });
    expect([await reportOf(client), await reportOf(client)]).toEqual(['ALLOW ALLOWED', 'ALLOW ALLOWED']);
    time.advance(126_000);
    expect(await reportOf(client)).toBe('CREDENTIALS_INVALID');
    const message = `The agent token has expired. The time here is ${time.clock().toISOString()}`;
    await expect(client.evaluate({ body: read() })).rejects.toMatchObject({ message });
  });

  it('is denied on every kernel once its key is revoked, and no longer authenticates after a second', async () => {
    const leaver = await newAgent('leaver');
    const { principal, kid } = leaver;
    for (const at of urls()) expect(await toldTo(leaver, {}, at)).toBe('ALLOW ALLOWED');
    const token = leaver.token();
    const client = (at: string) =>
      createClient(kernelRoutes, { baseUrl: at, headers: () => ({ authorization: `Bearer ${token}` }) });
    for (const at of urls()) expect(await reportOf(client(at))).toBe('ALLOW ALLOWED');
    await site.test.as('acme').revokeIdentityKey({ params: { principal, kid } });
    for (const at of urls()) expect(await reportOf(client(at))).toBe('DENY AGENT_REVOKED');
    time.advance(1_000);
    for (const at of urls()) expect(await reportOf(client(at))).toBe('CREDENTIALS_INVALID');
  });
});

describe('an agent that is revoked', () => {
  const revoke = (principal: string, tenant = 'acme') =>
    site.test.as(tenant, 'operator').revokeIdentity({ params: { directory: 'agents', principal } });
  const keyed = async (principal: string) => {
    const body = { kind: 'agent', principal_id: principal } as never; // the kernel fills in the defaults
    const { key } = (await site.test.as('acme').createAccessKey({ body })).body;
    return (at: string) =>
      createClient(kernelRoutes, { baseUrl: at, headers: () => ({ authorization: `Bearer ${key}` }) });
  };

  it('is denied on every kernel with every credential, also when an operator calls in its name', async () => {
    const gone = await newAgent('gone');
    const withKey = await keyed('gone');
    const token = gone.token();
    const callers = urls().flatMap((at) => [
      createClient(kernelRoutes, { baseUrl: at, headers: () => ({ authorization: `Bearer ${token}` }) }),
      withKey(at),
      site.test.as('acme', 'gone'),
    ]);
    for (const client of callers) expect(await reportOf(client)).toBe('ALLOW ALLOWED');
    await revoke('gone');
    for (const client of callers) expect(await reportOf(client)).toBe('DENY AGENT_REVOKED');
    time.advance(1_000);
    const later = [];
    for (const client of callers) later.push(await reportOf(client));
    expect(later).toEqual([...closed, ...closed]);
  });
  /**
   * After a second, routes reject the agent's own credentials. The operator's key still authenticates, and the decision
   * denies.
   */
  const closed = ['CREDENTIALS_INVALID', 'CREDENTIALS_INVALID', 'DENY AGENT_REVOKED'];

  it('cannot use an earlier approval', async () => {
    const asking = await newAgent('asking');
    const session = newSession();
    const client = asking.client(site.test.kernel.url);
    const { body: question } = await client.evaluate({ body: call('pay', 'E3', session) });
    expect(question.verdict).toBe('ESCALATE');
    await approve(site.test, send(question));
    await revoke('asking');
    const { body: answer } = await client.evaluate({ body: call('pay', 'E3', session) });
    expect(answerOf(answer)).toBe('DENY AGENT_REVOKED');
  });

  it('is denied when it repeats an allowed request with the same idempotency key', async () => {
    const repeating = await newAgent('repeating');
    const client = repeating.client(site.test.kernel.url);
    const body = read();
    const headers = { 'idempotency-key': newSession() };
    expect(answerOf((await client.evaluate({ body, headers })).body)).toBe('ALLOW ALLOWED');
    await revoke('repeating');
    expect(answerOf((await client.evaluate({ body, headers })).body)).toBe('DENY AGENT_REVOKED');
  });

  it('has its waiting calls stopped, even if they were allowed', async () => {
    let nowMs = 0;
    const { cycle } = site.test.kernel.context;
    const boundary = createBoundary({ ...cycle, settings: { ...cycle.settings, monotonicMs: () => nowMs } });
    const { tenant, principal } = await newAgent('waiting');
    const called = { session: newSession(), model: 'scripted', args: {}, context: {} };
    const waiting = async (caller: object) => {
      const decision = await decideAndDie(boundary, { kind: 'model', caller, ...called } as never); // plain strings
      return () => boundary.maySendLate(decision, caller as never);
    };
    const holder = await newAgent('waiting-with-keys');
    const operator = site.test.as(tenant, 'operator');
    const terms = { kind: 'agent', principal_id: holder.principal, expires_in_days: 1 } as const;
    const { key_id } = (await operator.createAccessKey({ body: terms })).body;
    const named = { tenant, principal, scopes: [] };
    const ofKeys = { ...named, principal: holder.principal };
    const [itself, ofAnother, byToken, byKey] = [
      await waiting(named),
      await waiting({ ...named, tenant: 'umbrella' }),
      await waiting({ ...ofKeys, agentKey: holder.kid }),
      await waiting({ ...ofKeys, accessKey: key_id }),
    ];
    const all = () => Promise.all([itself(), ofAnother(), byToken(), byKey()]);
    nowMs += 500;
    expect(await all()).toEqual([true, true, true, true]);
    await revoke(principal);
    await operator.revokeIdentityKey({ params: { principal: holder.principal, kid: holder.kid } });
    await operator.revokeAccessKey({ params: { key_id } });
    expect(await all()).toEqual([false, true, false, false]);
  });

  it('is distinct from the agent of the same name in another tenant', async () => {
    await newAgent('twin-named');
    const another = await newAgent('twin-named', 'umbrella');
    await revoke('twin-named');
    expect(await toldTo(another)).toBe('ALLOW ALLOWED');
  });

  it('with calls in progress on two kernels gets no ALLOW after the answer to its revocation', async () => {
    for (let round = 0; round < 4; round += 1) {
      const racing = await newAgent(`racing-${round}`);
      const clients = urls().map((at) => racing.client(at));
      let isRevoked = false;
      const late: string[] = [];
      const runs = clients.map(async (client) => {
        for (let lateCalls = 0; lateCalls < 5;) {
          const beganLate = isRevoked;
          const reply = await client.evaluate({ body: read() }).then(({ body }) => answerOf(body), codeOfError);
          if (!beganLate) continue;
          late.push(reply);
          lateCalls += 1;
        }
      });
      await revoke(racing.principal);
      isRevoked = true;
      await Promise.all(runs);
      expect(late.filter((reply) => reply === 'ALLOW ALLOWED')).toEqual([]);
      expect(await allowsAfterRevocation(racing.principal)).toBe(0);
    }
  });

  /** The number of ALLOWs that follow the revocation in the log, whose order is the order of commits. */
  async function allowsAfterRevocation(principal: string): Promise<number> {
    const { rows } = await site.test.pool.query<{ count: string }>(
      `SELECT count(*) FROM ledger d, ledger r
        WHERE d.principal_id = $1 AND d.kind = 'decision' AND d.verdict = 'ALLOW' AND d.log_index > r.log_index
          AND r.action = 'identity.revoke' AND r.payload LIKE $2`,
      [principal, `%"agent:${principal}"%`],
    );
    return Number(rows[0]?.count);
  }
});

describe('a policy that requires a proven caller', () => {
  const demanding = async (members: string, tenant: string) => {
    await deliverSettings(site.test, tenant);
    const rules = 'rules:\n  - { id: all, effect: allow }\n';
    await site.test.activate(
      tenant,
      `format: countersign/policy.v1\nname: demanding\nversion: '1'\n${members}${rules}`,
    );
  };

  verifies('kn.fc.credentials', 'denies a caller who only claims a name, and allows proven callers', async () => {
    const tenant = '0DEMANDS'.padStart(26, '0');
    const workspace = `wsp_${tenant}`;
    await demanding('identity: [proven]\n', workspace);
    const proven = await newAgent('proven', workspace);
    const seen = {
      claimed: await reportOf(site.test.as(workspace, 'proven')),
      token: await toldTo(proven),
      assertion: await reportOf(assertedIn(workspace)),
    };
    expect(seen).toEqual({ claimed: 'DENY CREDENTIALS_MISSING', token: 'ALLOW ALLOWED', assertion: 'ALLOW ALLOWED' });
  });

  const assertedIn = (tenant: string) =>
    createClient(kernelRoutes, {
      baseUrl: site.test.kernel.url,
      headers: async () => ({ authorization: `Bearer ${await gateway.assert({ tenant })}` }),
    });

  verifies('kn.fc.credentials', 'for one tool denies unproven callers in any spelling of the tool', async () => {
    const tools = `tools:\n  notes.write_note: { effect_level: E2, identity: [proven, enrolled] }\n`;
    await demanding(tools, 'careful');
    const proven = await newAgent('proven', 'careful');
    const claimed = site.test.as('careful', 'proven');
    const writing = { tool: 'notes.write_note', args: { id: 'a', text: 'x' }, context: {} };
    const executed = async (client: KernelClient) =>
      answerOf((await client.executeMcp({ body: { ...writing, session_id: newSession() } })).body.decision);
    expect(await reportOf(claimed)).toBe('ALLOW ALLOWED');
    expect(await executed(claimed)).toBe('DENY CREDENTIALS_MISSING');
    expect(await executed(proven.client(site.test.kernel.url))).toBe('ALLOW ALLOWED');
    for (const tool of ['notes__write_note', 'notes.write_note'])
      expect(await reportOf(claimed, call(tool, 'E2'))).toBe('DENY CREDENTIALS_MISSING');
  });

  verifies('kn.fc.credentials', 'or an enrolled one denies unknown and revoked agents', async () => {
    const workspace = `wsp_${'ENR0'.padStart(26, '0')}`;
    await demanding('identity: [enrolled]\n', workspace);
    expect(await reportOf(assertedIn(workspace))).toBe('DENY AGENT_UNKNOWN');
    const params = { directory: 'agents' as const, principal: `agent:${workspace}` };
    await site.test.as(workspace).putIdentity({ params, body: { display_name: 'The workspace' } });
    expect(await reportOf(assertedIn(workspace))).toBe('ALLOW ALLOWED');
    await site.test.as(workspace).revokeIdentity({ params });
    expect(await reportOf(assertedIn(workspace))).toBe('DENY AGENT_REVOKED');
  });
});
