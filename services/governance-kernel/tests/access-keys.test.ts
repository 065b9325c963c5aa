import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createClient, isAppError, type AnyRoute, type Door, type PrincipalId } from '@countersign/contracts';
import type { AccessKey, NewAccessKey } from '@countersign/contracts/governance-kernel';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import OpenAI from 'openai';
import { kernelConfigFrom, startKernel, type StartedKernel } from '../src/index.ts';
import { movableClock, newSession, refusal, answerOf } from './_caller.ts';
import { attempt, connectMcp, doors } from './_doors.ts';
import { kernelRoutes } from './_kernel.ts';
import { allRoutes, rawCall, refusalCodeOf } from './_raw.ts';
import { startUpstreams, toolPolicy, type Upstreams } from './_upstreams.ts';

const time = movableClock(new Date().toISOString());
let site: Upstreams;
let second: StartedKernel;
beforeAll(async () => {
  site = await startUpstreams({}, [], { clock: time.clock });
  await site.test.activate('*', toolPolicy);
  second = await startKernel(kernelConfigFrom(site.test.env), { clock: time.clock });
});
afterAll(async () => {
  await second.stop();
  await site.close();
});

const agent = 'researcher' as PrincipalId; // matches the schema
const created = async (terms: Partial<NewAccessKey> = {}, tenant = 'acme') => {
  const body = { kind: 'agent', principal_id: agent, ...terms } as NewAccessKey; // the kernel fills in the defaults
  return (await site.test.as(tenant, 'operator').createAccessKey({ body })).body;
};
const bearer = (key: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${key}`, ...more });
const read = (tool = 'lookup') =>
  ({ action: 'tool.call', tool, effect_level: 'E1', session_id: newSession() }) as never;

/** Verdict and reason of a read under the key alone, or the code of its refusal. */
async function reportOf(
  key: string,
  { at = site.test.kernel.url, tool = 'lookup', headers = {} } = {},
): Promise<string> {
  const client = createClient(kernelRoutes, { baseUrl: at, headers: () => bearer(key, headers) });
  return client.evaluate({ body: read(tool) }).then(({ body }) => answerOf(body), codeOfError);
}

const codeOfError = (error: unknown) => (isAppError(error) ? error.code : String(error));

describe('the key of an agent', () => {
  it('alone authorizes evaluations, chats and MCP calls, and identifies the caller', async () => {
    const { key } = await created();
    const client = createClient(kernelRoutes, { baseUrl: site.test.kernel.url, headers: () => bearer(key) });
    const { body } = await client.evaluate({ body: read() });
    expect(body).toMatchObject({ allow: true, receipt: { payload: { tenant_id: 'acme', principal_id: agent } } });

    const openai = new OpenAI({ baseURL: `${site.test.kernel.url}/v1`, apiKey: key, maxRetries: 0 });
    const answer = await openai.chat.completions.create({
      model: 'scripted',
      messages: [{ role: 'user', content: 'hi' }],
    });
    expect(answer.choices).toHaveLength(1);

    const mcp = new Client({ name: 'agent', version: '1' });
    const requestInit = { headers: bearer(key) };
    await mcp.connect(new StreamableHTTPClientTransport(new URL(`${site.test.kernel.url}/mcp`), { requestInit }));
    expect((await mcp.callTool({ name: 'notes.read_note', arguments: { title: 'none' } })).content).toBeDefined();
    await mcp.close();
  });

  it('opens no routes of the contract except those for agents', async () => {
    const { key } = await created();
    const closed = allRoutes.filter(({ auth, door }) => auth !== 'public' && door === undefined);
    const outcomeOf = async (route: AnyRoute) => {
      const { status, text } = await rawCall(site.test.kernel.url, { route, headers: bearer(key) });
      return [route.operation, status, refusalCodeOf(route, { status, text })];
    };
    const expected = ({ auth, operation }: AnyRoute) =>
      auth === 'tenant_scoped' ? [operation, 403, 'PERMISSION_DENIED'] : [operation, 401, 'CREDENTIALS_INVALID'];
    expect(await Promise.all(closed.map(outcomeOf))).toEqual(closed.map(expected));
    expect(closed.length).toBeGreaterThan(20);
  });

  it('opens only the routes and calls only the tools in its scope', async () => {
    const chatOnly = await created({ kind: 'agent', doors: ['chat'] });
    expect(await reportOf(chatOnly.key)).toBe('PERMISSION_DENIED');
    const lookupOnly = await created({ kind: 'agent', tools: ['lookup'] });
    expect(await reportOf(lookupOnly.key)).toBe('ALLOW ALLOWED');
    expect(await reportOf(lookupOnly.key, { tool: 'search' })).toBe('DENY INSUFFICIENT_SCOPE');
    const client = createClient(kernelRoutes, { baseUrl: site.test.kernel.url, headers: () => bearer(lookupOnly.key) });
    const asksModel = async (args: object) => {
      const body = { action: 'model.call', resource: 'gpt-5', args, session_id: newSession() } as never; // plain strings
      return (await client.evaluate({ body })).body.reason_code;
    };
    expect(await asksModel({})).not.toBe('INSUFFICIENT_SCOPE');
    expect(await asksModel({ hosted_tools: ['web_search'] })).toBe('INSUFFICIENT_SCOPE');
    const approver = await created({ kind: 'approver' });
    expect(await reportOf(approver.key)).toBe('PERMISSION_DENIED');
  });

  it.each<[Door, string[]]>([
    ['evaluate', ['evaluate', 'preflight-sandbox']],
    [
      'chat',
      [
        'create-chat-completion',
        'get-ag-ui-info',
        'get-agent-ui-info',
        'get-model',
        'list-models',
        'run-ag-ui',
        'run-agent-ui',
      ],
    ],
    [
      'mcp',
      [
        'authorize-mcp-call',
        'call-mcp',
        'describe-mcp',
        'execute-mcp',
        'list-gallery-servers',
        'list-mcp-capabilities',
      ],
    ],
  ])('limited to %s opens only the routes for it', async (door, operations) => {
    const { key } = await created({ doors: [door] });
    const guarded = allRoutes.filter(({ auth }) => auth !== 'public');
    const refused = async (route: AnyRoute) => {
      const { status, text } = await rawCall(site.test.kernel.url, { route, headers: bearer(key) });
      return ['PERMISSION_DENIED', 'CREDENTIALS_INVALID'].includes(refusalCodeOf(route, { status, text }));
    };
    const answers = await Promise.all(guarded.map(async (route) => ({ route, isRefused: await refused(route) })));
    const opened = answers.flatMap(({ route, isRefused }) => (isRefused ? [] : [route.operation]));
    expect(opened.sort()).toEqual(operations);
  });

  it('stores canonical tool names, however they were written, and refuses a name without visible characters', async () => {
    const written = await created({ kind: 'agent', tools: ['files__read', 'lookup', 'files.read'] });
    expect(written.tools).toEqual(['files.read', 'lookup']);
    for (const tool of ['files.read', 'files__read'])
      expect(await reportOf(written.key, { tool })).not.toBe('DENY INSUFFICIENT_SCOPE');
    expect(await reportOf(written.key, { tool: 'files.write' })).toBe('DENY INSUFFICIENT_SCOPE');
    for (const name of ['\u200b', '__', '.'])
      await expect(created({ kind: 'agent', tools: ['lookup', name] })).rejects.toMatchObject({ param: 'tools.1' });
  });

  it('acts for its own tenant and principal, whatever the request states', async () => {
    const { key } = await created();
    expect(await reportOf(key, { headers: { 'x-gov-tenant-id': 'acme', 'x-gov-principal-id': agent } })).toBe(
      'ALLOW ALLOWED',
    );
    expect(await reportOf(key, { headers: { 'x-gov-tenant-id': 'umbrella' } })).toBe('PERMISSION_DENIED');
    expect(await reportOf(key, { headers: { 'x-gov-principal-id': 'admin' } })).toBe('PERMISSION_DENIED');
    expect(await reportOf(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).toBe('CREDENTIALS_INVALID');
  });

  it('is denied on every kernel once it is revoked, and no longer authenticates after a second', async () => {
    const { key, key_id } = await created();
    const doors = [site.test.kernel.url, second.url];
    for (const at of doors) expect(await reportOf(key, { at })).toBe('ALLOW ALLOWED');
    const { body } = await site.test.as('acme').revokeAccessKey({ params: { key_id } });
    expect(body.revoked_at).not.toBeNull();
    for (const at of doors) expect(await reportOf(key, { at })).toBe('DENY AGENT_REVOKED');
    time.advance(1_000);
    for (const at of doors) expect(await reportOf(key, { at })).toBe('CREDENTIALS_INVALID');
    expect((await site.test.as('acme').revokeAccessKey({ params: { key_id } })).body).toEqual(body);
  });

  it('expires at its time', async () => {
    const { key } = await created({ expires_in_days: 1 });
    expect(await reportOf(key)).toBe('ALLOW ALLOWED');
    time.advance(86_400_000);
    expect(await reportOf(key)).toBe('CREDENTIALS_INVALID');
    await site.test.activate('*', toolPolicy); // otherwise the policy would be stale
  });

  it('that expires while a model answers allows none of the proposed tool calls', async () => {
    const mcp = await connectMcp(site.test.kernel.url);
    for (const door of doors.filter(({ proposed, resumes }) => proposed && resumes !== true)) {
      const { key } = await created({ principal_id: 'agent' as PrincipalId, expires_in_days: 1 });
      const proposed = { bearer: key, tool: 'lookup', session: newSession() };
      const meanwhile = async () => {
        time.advance(86_400_000);
        await site.test.activate('*', toolPolicy); // otherwise the policy would be stale
      };
      expect(await attempt({ ...site, mcp }, door, proposed)).toMatchObject({ code: 'ALLOWED', executed: true });
      const ended = await attempt({ ...site, mcp }, door, { ...proposed, session: newSession(), meanwhile });
      expect(ended).toMatchObject({ verdict: 'DENY', code: 'AGENT_REVOKED', executed: false });
    }
    await mcp.close();
  });
});

describe('keys', () => {
  it('are stored as hashes, shown by their beginning, and returned once', async () => {
    const { key, ...made } = await created({ kind: 'agent', tools: ['lookup'] }, 'umbrella');
    expect(key).toMatch(/^agk_[A-Za-z0-9_-]{43}$/);
    expect(key.startsWith(made.prefix)).toBe(true);
    const listed = (await site.test.as('umbrella').listAccessKeys({ query: {} })).body.data;
    expect(listed).toEqual([made]);
    const { rows } = await site.test.pool.query<{ dump: string }>(
      `SELECT row_to_json(k)::text AS dump FROM kernel.access_keys k WHERE key_id = $1`,
      [made.key_id],
    );
    expect(rows[0]?.dump).not.toContain(key);
    expect(rows[0]?.dump).toContain(createHash('sha256').update(key).digest('hex'));
  });

  it('state when they were last used', async () => {
    const { key, key_id } = await created({}, 'initech');
    const lastUse = async (): Promise<AccessKey['last_used_at']> =>
      (await site.test.as('initech').listAccessKeys({ query: {} })).body.data.find((listed) => listed.key_id === key_id)
        ?.last_used_at ?? null;
    expect(await lastUse()).toBeNull();
    await reportOf(key);
    await site.test.kernel.workers.housekeeper.run();
    expect(await lastUse()).toBe(time.clock().toISOString());
  });

  it('leave receipts of their creation and their revocation', async () => {
    const { key_id } = await created({ kind: 'approver' }, 'hooli');
    await site.test.as('hooli', 'operator').revokeAccessKey({ params: { key_id } });
    const { body } = await site.test.as('hooli').listReceipts({ query: { session_id: 'access-keys' } });
    expect(
      body.data.map(({ payload }) => [payload.kind, payload.action, payload.principal_id, payload.resource]),
    ).toEqual([
      ['trust', 'access_key.revoke', 'operator', `access_key:${key_id}`],
      ['trust', 'access_key.create', 'operator', `access_key:${key_id}`],
    ]);
  });

  it('of another tenant are neither listed nor revoked', async () => {
    const { key, key_id } = await created();
    expect((await site.test.as('stranger').listAccessKeys({ query: {} })).body.data).toEqual([]);
    expect(await refusal(site.test.as('stranger').revokeAccessKey({ params: { key_id } }))).toBe('NOT_FOUND');
    expect(await reportOf(key)).toBe('ALLOW ALLOWED');
  });
});
