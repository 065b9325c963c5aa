import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  agentOf,
  createClient,
  keyPrincipal,
  isAppError,
  type AnyRoute,
  type AssertionRole,
} from '@countersign/contracts';
import type { EvaluateRequest } from '@countersign/contracts/governance-kernel';
import { verifies } from '@countersign/testkit/verifies';
import { kernelConfigFrom, startKernel } from '../src/index.ts';
import { deliverSettings, TestGateway, userCalled, workspaceCalled, type Speaker } from './_assertions.ts';
import { send, ledgerOf, newSession, refusal, answerOf } from './_caller.ts';
import { kernelRoutes } from './_kernel.ts';
import { allRoutes, rawCall, refusalCodeOf } from './_raw.ts';
import { startUpstreams, type Upstreams } from './_upstreams.ts';

const gateway = new TestGateway();
const [acme, votes, umbrella] = ['ACME', 'V0TES', 'VMBRE11A'].map(workspaceCalled) as [string, string, string]; // three names
const [owner, member, asker] = ['0WNER', 'MEMBER', 'ASKER'].map(userCalled) as [string, string, string]; // three names
const roles: AssertionRole[] = ['agent', 'member', 'partner', 'owner'];
let site: Upstreams;
beforeAll(async () => {
  const retired = new TestGateway();
  site = await startUpstreams({ GOV_ASSERTION_KEYS: `${retired.publicKey},${gateway.publicKey}` });
  await deliverSettings(site.test, acme, votes, umbrella);
});
afterAll(() => site.close());

const as = (speaker?: Speaker, more?: Record<string, string>) => gateway.client(site.test.kernel.url, speaker, more);
const bearer = (text: string, more: Record<string, string> = {}) => ({ authorization: `Bearer ${text}`, ...more });
const read = (more: object = {}) =>
  ({ action: 'tool.call', tool: 'lookup', effect_level: 'E1', session_id: newSession(), ...more }) as EvaluateRequest;
const payment = (session: string) => read({ tool: 'pay', effect_level: 'E3', session_id: session });

/** A payment that the agent of a workspace requests, or an operator as `person`. */
async function question(tenant: string, person?: string) {
  const body = payment(newSession());
  const client = person === undefined ? as({ tenant }) : site.test.as(tenant, person);
  const id = send((await client.evaluate({ body })).body);
  const { data } = (await as({ tenant }).listApprovals()).body;
  const found = data.find(({ approval_id }) => approval_id === id);
  if (found === undefined) throw new Error('the question is not listed');
  return { params: { approval_id: found.approval_id }, ceremonyHash: found.ceremony_hash, approval: found };
}

type Question = Awaited<ReturnType<typeof question>>;

async function vote(speaker: Speaker, { params, ceremonyHash }: Question, action: 'approve' | 'deny' | 'revoke') {
  const headers = { 'if-match': `"${ceremonyHash}"` };
  return (await as(speaker).transitionApproval({ params: { ...params, action }, body: {}, headers })).body;
}

const codeOfVote = (speaker: Speaker, asking: Question, action: 'approve' | 'deny' | 'revoke' = 'approve') =>
  vote(speaker, asking, action).then(
    ({ state }) => state,
    (error: unknown) => (isAppError(error) ? error.code : String(error)),
  );

describe('an assertion of the gateway', () => {
  verifies(
    'kn.auth.classes',
    'opens for each role the routes that the contract names for it, and no other',
    async () => {
      for (const role of roles) {
        const headers = bearer(await gateway.assert({ role, ...(role === 'agent' ? {} : { principal: member }) }));
        for (const route of allRoutes.filter(({ auth }) => auth !== 'public')) {
          // The path names the caller, because passkeys of other people are refused in every role.
          const params = { principal: member };
          const { status, text } = await rawCall(site.test.kernel.url, { route, headers, params });
          const opens = route.assertedBy?.includes(role) === true;
          const report = opens ? ![401, 403].includes(status) : `${status} ${refusalCodeOf(route, { status, text })}`;
          expect([role, route.operation, report]).toEqual([role, route.operation, opens || closed(route)]);
        }
      }
    },
  );

  const closed = ({ auth }: AnyRoute) =>
    auth === 'tenant_scoped' ? '403 PERMISSION_DENIED' : '401 CREDENTIALS_INVALID';

  const ofApprovers = [
    'assert-approval',
    'challenge-approval',
    'challenge-voucher',
    'disable-mcp-server',
    'list-passkeys',
    'register-passkey',
    'revoke-passkey',
    'transition-approval',
    'verify-passkey',
    'vouch-for-passkey',
  ];

  const ofAgents = [
    'authorize-mcp-call',
    'call-mcp',
    'create-chat-completion',
    'describe-mcp',
    'evaluate',
    'execute-mcp',
    'get-ag-ui-info',
    'get-agent-ui-info',
    'get-model',
    'list-gallery-servers',
    'list-mcp-capabilities',
    'list-models',
    'run-ag-ui',
    'run-agent-ui',
    'withdraw-approval',
    'preflight-sandbox',
  ];

  const keysOfAgents = ['create-access-key', 'list-access-keys', 'revoke-access-key'];

  const addServers = ['register-mcp-server', 'request-mcp-server-approval', 'scan-mcp-server'];

  const readByAll = [
    'export-evidence',
    'export-receipts',
    'get-consistency-proof',
    'get-graph-receipt',
    'get-inclusion-proof',
    'get-latest-checkpoint',
    'get-receipt',
    'get-record',
    'get-tlog-proof',
    'list-approvals',
    'list-budgets',
    'list-checkpoints',
    'list-graph-receipts',
    'list-graph-sessions',
    'list-receipts',
    'list-records',
    'tail-receipts',
  ];
  const readByPeople = [
    'compare-mcp-server-address',
    'get-approval-context',
    'get-boundary-status',
    'get-decision-stats',
    'get-mcp-server',
    'get-seen-agent',
    'list-actions',
    'list-boundary-targets',
    'list-mcp-servers',
    'get-sandbox-grant',
    'inspect-sandbox-grant',
    'list-sandbox-grants',
    'list-sandbox-profiles',
    'verify-sandbox-grant',
    'get-envelope',
    'get-envelope-payload',
    'list-envelopes',
    'verify-envelope',
    'get-host-chain',
    'list-host-drift',
    'list-registered-tools',
    'list-seen-agents',
    ...readByAll,
  ];

  it('is accepted for each role only on the routes that this test lists', () => {
    const named = (role: AssertionRole) =>
      allRoutes.filter(({ assertedBy }) => assertedBy?.includes(role) === true).map(({ operation }) => operation);
    expect(Object.fromEntries(roles.map((role) => [role, named(role).sort()]))).toEqual({
      agent: [...ofAgents, ...readByAll].sort(),
      member: readByPeople.sort(),
      partner: [...ofApprovers, ...readByPeople, 'list-access-keys', 'revoke-access-key'].sort(),
      owner: [
        ...[...ofApprovers, ...keysOfAgents, ...readByPeople, ...addServers],
        ...['create-envelope', 'evaluate', 'import-host-chain'],
      ].sort(),
    });
  });

  it('proves the agent to evaluations, chats and MCP calls, without other headers', async () => {
    const { body } = await as().evaluate({ body: read() });
    expect(body).toMatchObject({
      allow: true,
      receipt: { payload: { tenant_id: acme, principal_id: agentOf(acme) } },
    });
    expect(body.trace.find(({ gate }) => gate === 'identity')).toMatchObject({ outcome: 'pass' });
    const chat = { model: 'scripted', messages: [{ role: 'user' as const, content: 'hi' }] };
    expect((await as().createChatCompletion({ body: chat })).status).toBe(200);
    const call = { tool: 'notes.write_note', args: { id: 'a', text: 'x' }, session_id: newSession(), context: {} };
    expect((await as().executeMcp({ body: call })).body.decision.verdict).toBe('ALLOW');
    expect((await as().listMcpCapabilities()).body.tools.length).toBeGreaterThan(0);
  });

  it('is accepted with headers that name the same caller, and refused if they or the query name another', async () => {
    const reportOf = (more: Record<string, string>, query = {}) =>
      as({}, more)
        .evaluate({ body: read(), query })
        .then(({ body }) => answerOf(body), refusalCode);
    expect(await reportOf({ 'x-gov-tenant-id': acme, 'x-gov-principal-id': agentOf(acme) })).toBe('ALLOW ALLOWED');
    expect(await reportOf({ 'x-gov-tenant-id': umbrella })).toBe('PERMISSION_DENIED');
    expect(await reportOf({}, { tenant_id: umbrella })).toBe('PERMISSION_DENIED');
    expect(await reportOf({ 'x-gov-principal-id': 'admin' })).toBe('PERMISSION_DENIED');
  });

  const refusalCode = (error: unknown) => (isAppError(error) ? error.code : String(error));

  it('is refused with an unpinned key, a changed signature or a time two minutes off, and nothing is sealed', async () => {
    const now = Date.now();
    const texts = [
      await new TestGateway().assert({}),
      await gateway.assert({}, new Date(now - 120_000)),
      await gateway.assert({}, new Date(now + 120_000)),
      `${(await gateway.assert({})).slice(0, -4)}AAAA`,
    ];
    const route = allRoutes.find(({ operation }) => operation === 'evaluate');
    if (route === undefined) throw new Error('the contract has no evaluate');
    const session = newSession();
    const body = JSON.stringify(read({ session_id: session }));
    for (const text of texts) {
      const refused = await rawCall(site.test.kernel.url, { route, headers: bearer(text), body });
      expect([refused.status, refusalCodeOf(route, refused)]).toEqual([401, 'CREDENTIALS_INVALID']);
    }
    expect(await ledgerOf(site.test, session)).toEqual([]);
  });

  it('is refused by a kernel without a pinned key, and no kernel pins its own signing key', async () => {
    const { env } = site.test;
    const alone = await startKernel(kernelConfigFrom({ ...env, GOV_ASSERTION_KEYS: '' }));
    expect(await refusal(gateway.client(alone.url).evaluate({ body: read() }))).toBe('CREDENTIALS_INVALID');
    await alone.stop();
    const own = { ...env, GOV_POLICY_KEY: gateway.privateKeyPem };
    await expect(startKernel(kernelConfigFrom(own))).rejects.toThrow('a key of its own');
    expect(() => kernelConfigFrom({ ...env, GOV_ASSERTION_KEYS: 'AAAA' })).toThrow('GOV_ASSERTION_KEYS is malformed');
  });

  it('may be renewed between two requests with one idempotency key, which remain one call', async () => {
    const body = read();
    const headers = { 'idempotency-key': newSession() };
    const now = Date.now();
    const messages = [];
    for (const at of [new Date(now - 30_000), new Date(now)]) {
      const text = await gateway.assert({}, at);
      const { body: reply } = await as({}, bearer(text)).evaluate({ body, headers });
      messages.push(reply.decision_id);
    }
    expect(messages[1]).toBe(messages[0]);
  });
});

describe('a vote by an assertion', () => {
  it('is the vote of the asserted person, and its record contains the assertion', async () => {
    const asking = await question(votes);
    const voting = { tenant: votes, principal: owner, role: 'owner' } as const;
    expect(await vote(voting, asking, 'approve')).toMatchObject({ state: 'approved', approved_by: [owner] });
    const sealed = await ledgerOf(site.test, asking.approval.session_id);
    expect(sealed.at(-1)).toMatchObject({
      payload: { action: 'approval.approve', principal_id: owner },
      record: { intent: { facts: { credential: 'assertion', role: 'owner' } } },
    });
  });

  it('is refused to agents, members and the requester, and cannot revoke an approval', async () => {
    const asking = await question(votes, asker);
    const report = {
      agent: await codeOfVote({ tenant: votes }, asking),
      member: await codeOfVote({ tenant: votes, principal: member, role: 'member' }, asking),
      asker: await codeOfVote({ tenant: votes, principal: asker, role: 'owner' }, asking),
      revoking: await codeOfVote({ tenant: votes, principal: owner, role: 'owner' }, asking, 'revoke'),
      partner: await codeOfVote({ tenant: votes, principal: member, role: 'partner' }, asking, 'deny'),
    };
    const denied = 'PERMISSION_DENIED';
    expect(report).toEqual({ agent: denied, member: denied, asker: denied, revoking: denied, partner: 'denied' });
  });
});

describe('a withdrawal by an assertion', () => {
  it('is permitted to the requester only, is sealed as theirs, and can be repeated', async () => {
    const asking = await question(votes);
    const withdraw = (speaker: Speaker) => as(speaker).withdrawApproval({ params: asking.params, body: {} });
    const second = { tenant: votes, principal: keyPrincipal('hpk_01ARZ3NDEKTSV4RRFFQ69G5FAV' as never) }; // any key ID
    expect(await refusal(withdraw(second))).toBe('PERMISSION_DENIED');
    expect(await refusal(withdraw({ tenant: umbrella }))).toBe('NOT_FOUND');
    for (let times = 0; times < 2; times += 1)
      expect((await withdraw({ tenant: votes })).body).toMatchObject({ state: 'revoked', args: null });
    const sealed = await ledgerOf(site.test, asking.approval.session_id);
    expect(sealed.map(({ payload }) => payload.action)).toEqual(['tool.call', 'approval.revoke']);
    expect(sealed.at(-1)?.payload.principal_id).toBe(agentOf(votes));
  });
});

describe('an assertion for one tenant', () => {
  it('reads, votes and calls nothing in another', async () => {
    const theirs = await question(umbrella);
    const { receipt_id } = (await as({ tenant: umbrella }).evaluate({ body: read() })).body;
    const mine = as({ tenant: acme });
    expect(await refusal(mine.getReceipt({ params: { receipt_id } }))).toBe('NOT_FOUND');
    const { data } = (await mine.listApprovals({ query: { session_id: theirs.approval.session_id } })).body;
    expect(data).toEqual([]);
    expect(await codeOfVote({ tenant: acme, principal: owner, role: 'owner' }, theirs)).toBe('NOT_FOUND');
    const grant = read({ ...payment(theirs.approval.session_id), approval_grant: theirs.approval.approval_id });
    expect((await mine.evaluate({ body: grant })).body.verdict).not.toBe('ALLOW');
    const [still] = (await as({ tenant: umbrella }).listApprovals()).body.data;
    expect(still).toEqual(theirs.approval);
  });
});

describe('a governed change', () => {
  const change = (more: object = {}) =>
    ({ action: 'policy.change', effect_level: 'E3', session_id: newSession(), ...more }) as EvaluateRequest;
  const reportOf = async (ask: Promise<{ body: Parameters<typeof answerOf>[0] }>) =>
    ask.then(
      ({ body }) => answerOf(body),
      (error: unknown) => (isAppError(error) ? error.code : String(error)),
    );

  verifies(
    'kn.auth.classes',
    'can be proposed by an owner, who can propose nothing else, but not by an agent, a partner or a key',
    async () => {
      const speaking = { role: 'owner', principal: owner } as const;
      const decided = (await as(speaking).evaluate({ body: change() })).body;
      expect(decided.receipt.payload).toMatchObject({ principal_id: owner, action: 'policy.change' });
      expect(await reportOf(as(speaking).evaluate({ body: read() }))).toBe('PERMISSION_DENIED');
      expect(await reportOf(as().evaluate({ body: change() }))).toBe('PERMISSION_DENIED');
      expect(await reportOf(as({ role: 'partner', principal: member }).evaluate({ body: change() }))).toBe(
        'PERMISSION_DENIED',
      );
      const made = await site.test
        .as(acme)
        .createAccessKey({ body: { kind: 'agent', principal_id: 'crawler' } as never });
      const key = { authorization: `Bearer ${made.body.key}` };
      const { evaluate } = kernelRoutes;
      const byKey = createClient({ evaluate }, { baseUrl: site.test.kernel.url, headers: () => key });
      expect(await reportOf(byKey.evaluate({ body: change() }))).toBe('PERMISSION_DENIED');
    },
  );
});

describe('keys of agents', () => {
  const make = (principal_id: string, speaking: object = { role: 'owner', principal: owner }, kind = 'agent') =>
    as(speaking).createAccessKey({ body: { kind, principal_id } as never }); // plain strings instead of branded ones

  it('are created and revoked by an owner, who is named in the sealed record', async () => {
    const { key, ...made } = (await make('researcher')).body;
    expect(made).toMatchObject({ kind: 'agent', principal_id: 'researcher', created_by: owner });
    const byKey = createClient(
      { evaluate: kernelRoutes.evaluate },
      { baseUrl: site.test.kernel.url, headers: () => ({ authorization: `Bearer ${key}` }) },
    );
    expect((await byKey.evaluate({ body: read() })).body.receipt.payload.principal_id).toBe('researcher');
    const speaking = as({ role: 'owner', principal: owner });
    expect((await speaking.listAccessKeys({})).body.data.map(({ key_id }) => key_id)).toContain(made.key_id);
    await speaking.revokeAccessKey({ params: { key_id: made.key_id } });
    expect((await byKey.evaluate({ body: read() })).body).toMatchObject({ allow: false });
  });

  it.each([
    ['an approver', 'someone', {}, 'approver'],
    ['an agent with the name of a person', owner, {}, 'agent'],
    ['an agent with the name of a key', 'key:apk_01ARZ3NDEKTSV4RRFFQ69G5FAV', {}, 'agent'],
    ['an agent with the name of a workspace agent', 'agent:wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV', {}, 'agent'],
    ['an agent, by a partner', 'someone', { role: 'partner', principal: member }, 'agent'],
  ])('are not created for %s', async (_what, principal, speaking, kind) => {
    const before = (await site.test.as(acme).listAccessKeys({})).body.data.length;
    const pending = make(principal, { role: 'owner', principal: owner, ...speaking }, kind);
    await expect(pending).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect((await site.test.as(acme).listAccessKeys({})).body.data).toHaveLength(before);
  });
});
