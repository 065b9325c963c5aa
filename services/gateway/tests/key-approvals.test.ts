import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyPrincipal } from '@countersign/contracts';
import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { sweep } from '../src/workers/sweep.ts';
import {
  clientOf,
  putMember,
  rowsOf,
  signInAs,
  startTestGateway,
  testConfig,
  testDatabase,
  type GatewayClient,
  type Person,
} from './_gateway.ts';
import { callAt, kernelAsks, kernelDecides, makeKey, messageHandled, type KeyOfPerson } from './_key-calls.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
/** The person who created the calling key. */
let maker: Person;
let colleague: GatewayClient;
let colleagueId: string;
let key: KeyOfPerson;
const kernel = new KernelStub();
let people = 0;

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' }));
});

beforeEach(async () => {
  kernel.verdictOf = () => 'ESCALATE';
  maker = await signInAs(gateway.url, `maker-${(people += 1)}@example.org`);
  ({ client: colleague, id: colleagueId } = await join(`colleague-${people}`, 'partner'));
  key = await makeKey(maker);
});

afterEach(() => {
  kernel.fault = 'none';
  kernel.executed.length = 0;
  kernel.approvals.clear();
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

async function join(name: string, role: 'partner' | 'member'): Promise<{ client: GatewayClient; id: string }> {
  const { user, headers } = await signInAs(gateway.url, `${name}@example.org`);
  const workspaceId = maker.workspace.id;
  await putMember(database, { workspaceId, userId: user.id, role });
  return { client: clientOf(gateway.url, { ...headers, 'x-workspace-id': workspaceId }), id: user.id };
}

const listed = async ({ client }: Pick<Person, 'client'> = maker) =>
  (await client.listWorkspaceApprovals({ query: {} })).body.data;

/** Sends a call that needs an approval. Returns the approval of the workspace. */
async function ask(call: { session_id?: string } = {}): Promise<WorkspaceApproval> {
  const { decision } = await callAt(gateway, key, call);
  const approvalId = decision.approval?.approval_id ?? '';
  const principal = keyPrincipal(key.id);
  const workspaceId = maker.workspace.id;
  await kernelAsks(gateway, { approvalId, principal, workspaceId, sessionId: call.session_id ?? 'job-7' });
  await until(async () => (await listed()).some(({ id }) => id === approvalId));
  const found = (await listed()).find(({ id }) => id === approvalId);
  if (found === undefined) throw new Error('It is not listed');
  return found;
}

const resolve = (client: GatewayClient, id: string, status: 'approved' | 'rejected' = 'approved', reason?: string) =>
  client.resolveWorkspaceApproval({ params: { id }, body: { status, ...(reason === undefined ? {} : { reason }) } });
const auditOf = async (action: string) => (await maker.client.listAudit({ query: { action } })).body.data;
const eventsOf = async (id: string) =>
  (
    await rowsOf<{ type: string; data: object }>(
      database,
      `SELECT type, envelope::jsonb -> 'data' AS data FROM outbox WHERE envelope LIKE $1 ORDER BY position`,
      [`%"approvalId":"${id}"%`],
    )
  ).map(({ type, data }) => [type, data]);

describe('the approval request of a key', () => {
  verifies('gw.approvals', 'is shown to the members with the judged values and the requester', async () => {
    const approval = await ask();
    expect(approval).toMatchObject({
      id: approval.kernelApprovalId,
      ...{ taskId: null, runId: null, sessionId: 'job-7', status: 'pending' },
      apiKey: { id: key.id, name: 'crawler' },
      requestedBy: keyPrincipal(key.id),
      startedBy: maker.user.id,
      ...{ action: 'tool.call', tool: 'files.write', resource: null, args: { seen: 'by the policy' }, facts: {} },
      ...{ effectLevel: 'E2', reasonCode: 'APPROVAL_REQUIRED', reason: 'as the table says' },
      demand: { toolCalls: 1, spendMicros: '0', egressBytes: 0, writes: 1 },
      ...{ resolvedBy: null, selfApproved: false, timelockUntil: null },
    });
    const { client: member } = await join(`member-${people}`, 'member');
    expect(await listed({ client: member })).toEqual([approval]);
    const decisionId = approval.decisionId ?? '';
    const { body: receipt } = await maker.client.getGovernanceReceipt({ params: { decisionId } });
    expect(receipt).toMatchObject({ verification: 'verified', principal: keyPrincipal(key.id), verdict: 'ESCALATE' });
    expect(await auditOf('approval.requested')).toMatchObject([
      { subject: approval.id, actor: keyPrincipal(key.id), verdict: 'escalate', details: { apiKeyId: key.id } },
    ]);
    const statement = { workspaceId: maker.workspace.id, runId: null, approvalId: approval.id };
    expect(await eventsOf(approval.id)).toEqual([['approval.requested.v1', statement]]);
  });

  verifies(
    'gw.approvals',
    'lets the call run when a colleague approves it, and the repeated call runs once',
    async () => {
      const approval = await ask();
      expect((await resolve(colleague, approval.id)).body).toMatchObject({
        ...{ status: 'approved', resolvedBy: colleagueId, selfApproved: false },
      });
      expect(kernel.approvals.votes).toEqual([{ approver: colleagueId, action: 'approve' }]);
      kernel.verdictOf = () => (kernel.approvals.use(approval.id) ? 'ALLOW' : 'ESCALATE');
      expect((await callAt(gateway, key)).decision).toMatchObject({ verdict: 'ALLOW' });
      expect(await eventsOf(approval.id)).toMatchObject([
        ['approval.requested.v1', {}],
        ['approval.resolved.v1', { status: 'approved', runId: null }],
      ]);
    },
  );

  it('is decided after the kernel lost the list of members: the refused vote delivers the list again', async () => {
    const approval = await ask();
    const grant = () => kernel.settings.memberLists.length;
    await resolve(colleague, (await ask({ session_id: 'job-before' })).id);
    const before = grant();
    kernel.fault = 'error_500';
    await expect(resolve(colleague, approval.id)).rejects.toMatchObject({ code: 'GOVERNANCE_UNAVAILABLE' });
    kernel.fault = 'none';
    expect((await resolve(colleague, approval.id)).body).toMatchObject({ status: 'approved' });
    expect(grant()).toBe(before + 1);
  });

  it('is decided when the kernel has a later list of members, as after a restore: the list is sent again above it', async () => {
    const approval = await ask();
    kernel.settings.standAt(`/internal/members/${maker.workspace.id}`, 90);
    await resolve(colleague, approval.id);
    expect(kernel.settings.memberLists.at(-1)).toMatchObject({ version: 91 });
    const stored = 'SELECT members_version FROM workspaces WHERE id = $1';
    expect(await rowsOf(database, stored, [maker.workspace.id])).toEqual([{ members_version: 91 }]);
  });

  verifies(
    'gw.approvals',
    'has its approvers before its copy arrives, since its run or key exists before the call',
    async () => {
      const { client: member } = await join(`reader-${people}`, 'member');
      const unheard = [
        { requestedBy: keyPrincipal(key.id), sessionId: 'job-unheard' },
        { requestedBy: 'crawler', sessionId: 'job-unheard' },
        { requestedBy: 'key:hpk_01ARZ3NDEKTSV4RRFFQ69G5FAV', sessionId: 'job-unheard' },
        { requestedBy: `agent:${maker.workspace.id}`, sessionId: 'run_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
      ] as never; // the schema brands names
      const obstaclesOf = async (client: GatewayClient) =>
        (await client.checkResolver({ body: { requests: unheard } })).body.obstacles;
      const unknown = 'UNKNOWN_REQUESTER';
      expect(await obstaclesOf(maker.client)).toEqual(['OWN_REQUEST', null, unknown, unknown]);
      expect(await obstaclesOf(colleague)).toEqual([null, null, unknown, unknown]);
      expect(await obstaclesOf(member)).toEqual(['ROLE', 'ROLE', 'ROLE', 'ROLE']);
    },
  );

  verifies(
    'gw.approvals',
    'is not decided by the key, by its creator while there is a colleague, by a member or by a stranger',
    async () => {
      const approval = await ask();
      await expect(resolve(maker.client, approval.id)).rejects.toMatchObject({ code: 'MAY_NOT_DECIDE' });
      expect(await auditOf('approval.resolve')).toMatchObject([{ verdict: 'deny', actor: maker.user.id }]);
      const whole = await maker.client.createApiKey({
        body: { name: 'all', role: 'partner', scopes: ['read', 'write', 'agent'], expiresInDays: 1 },
      });
      for (const { key: secret } of [key, whole.body])
        await expect(
          resolve(clientOf(gateway.url, { authorization: `Bearer ${secret}` }), approval.id),
        ).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      const { client: member } = await join(`member-${people}`, 'member');
      await expect(resolve(member, approval.id)).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
      const stranger = await signInAs(gateway.url, `stranger-${people}@example.org`);
      await expect(resolve(stranger.client, approval.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
      expect([await listed(stranger), kernel.approvals.votes]).toEqual([[], []]);
    },
  );

  verifies(
    'gw.approvals',
    'is decided by the creator of the key if there is no other voter, as self-approved, and stays pending under a quorum of two',
    async () => {
      maker = await signInAs(gateway.url, `alone-${people}@example.org`);
      key = await makeKey(maker);
      const approval = await ask();
      const alone = { status: 'approved', resolvedBy: maker.user.id, selfApproved: true };
      expect((await resolve(maker.client, approval.id)).body).toMatchObject(alone);
      expect(await auditOf('approval.approved')).toMatchObject([{ details: { selfApproved: true } }]);
      kernel.approvals.quorum = 2;
      const second = await ask({ session_id: 'job-8' });
      expect((await resolve(maker.client, second.id)).body).toMatchObject({ status: 'pending', selfApproved: false });
    },
  );

  verifies('gw.approvals', 'is resolved once with simultaneous votes', async () => {
    const approval = await ask();
    const votes = Array.from({ length: 20 }, () => resolve(colleague, approval.id));
    const outcomes = await Promise.allSettled(votes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(kernel.approvals.votes).toHaveLength(1);
    expect(await auditOf('approval.approved')).toHaveLength(1);
    expect((await eventsOf(approval.id)).map(([type]) => type)).toEqual([
      'approval.requested.v1',
      'approval.resolved.v1',
    ]);
  });

  verifies('gw.violations', 'is a violation when it is rejected or expires', async () => {
    const rejected = await ask();
    expect((await resolve(colleague, rejected.id, 'rejected', 'Not on a Friday.')).body.status).toBe('rejected');
    const late = await ask({ session_id: 'job-8' });
    await rowsOf(database, 'UPDATE approvals SET expires_at = now() WHERE id = $1', [late.id]);
    await sweep(gateway.context);
    await sweep(gateway.context);
    const { body } = await maker.client.listViolations({ query: {} });
    expect(
      body.data.map(({ reasonCode, reason, runId, decisionId }) => [reasonCode, reason, runId, decisionId]),
    ).toEqual([
      ['APPROVAL_EXPIRED', 'There was no decision in time.', null, late.decisionId],
      ['APPROVAL_REJECTED', 'The approval was rejected: Not on a Friday.', null, rejected.decisionId],
    ]);
    expect((await listed()).map(({ status }) => status)).toEqual(['expired', 'rejected']);
  });

  verifies('gw.approvals', 'stays when the key is revoked, and the call does not run', async () => {
    const approval = await ask();
    await maker.client.revokeApiKey({ params: { id: key.id } });
    expect((await resolve(colleague, approval.id)).body).toMatchObject({ status: 'approved' });
    expect(await callAt(gateway, key)).toMatchObject({ status: 401 });
    expect(kernel.executed).toEqual([]);
  });
});

describe('a message of the kernel about an approval', () => {
  const statementOf = (approval: WorkspaceApproval) => ({
    ...{ approvalId: approval.id, principal: keyPrincipal(key.id), workspaceId: maker.workspace.id },
  });

  verifies('gw.approvals', 'is stored once, however often it is delivered', async () => {
    const approval = await ask();
    for (let nth = 0; nth < 5; nth += 1) await kernelAsks(gateway, statementOf(approval));
    await ask({ session_id: 'job-8' });
    expect((await listed()).filter(({ id }) => id === approval.id)).toEqual([approval]);
    expect((await auditOf('approval.requested')).filter(({ subject }) => subject === approval.id)).toHaveLength(1);
    expect(await eventsOf(approval.id)).toHaveLength(1);
  });

  verifies('gw.approvals', 'applies a decision on the page of the kernel, and a withdrawal', async () => {
    const approval = await ask();
    const stands = (status: string) => until(async () => (await listed())[0]?.status === status);
    await kernelDecides(gateway, approval, { state: 'approved' });
    await stands('approved');
    expect(await auditOf('approval.approved')).toMatchObject([{ actor: 'carol', subject: approval.id }]);
    await kernelDecides(gateway, approval, { state: 'revoked', rejection_reason: 'Not yet.' });
    await stands('rejected');
    expect((await maker.client.listViolations({ query: {} })).body.data).toMatchObject([
      { reasonCode: 'APPROVAL_REJECTED', reason: 'The approval was rejected: Not yet.' },
    ]);
    await kernelDecides(gateway, approval, { state: 'approved' });
    const second = await ask({ session_id: 'job-8' });
    await kernelDecides(gateway, second, { state: 'expired', resolved_by: null });
    await stands('expired');
    expect((await listed()).map(({ status }) => status)).toEqual(['expired', 'rejected']);
  });

  verifies('gw.approvals', 'applies a decision that was made before the request was stored', async () => {
    const { decision } = await callAt(gateway, key);
    const approvalId = decision.approval?.approval_id as WorkspaceApproval['id'];
    const workspaceId = maker.workspace.id;
    const question = { approvalId, principal: keyPrincipal(key.id), workspaceId };
    const resolved = {
      kernelApprovalId: approvalId,
      workspaceId,
      sessionId: 'job-7' as never,
      requestedBy: question.principal,
    };
    await messageHandled(database, await kernelDecides(gateway, resolved, { state: 'approved' }));
    await kernelAsks(gateway, question);
    await until(async () => (await listed())[0]?.status === 'approved');
  });

  verifies('gw.approvals', 'leads to an approval only with a receipt that proves the request', async () => {
    const unproven = ['other_principal', 'other_session', 'other_tool', 'foreign_key', 'outcome'] as const;
    for (const fault of unproven) {
      kernel.fault = fault;
      const { decision } = await callAt(gateway, key, { session_id: fault });
      const approvalId = decision.approval?.approval_id ?? '';
      await kernelAsks(gateway, {
        ...{ approvalId, principal: keyPrincipal(key.id), workspaceId: maker.workspace.id, sessionId: fault },
      });
    }
    kernel.fault = 'none';
    expect([await ask({ session_id: 'honest' })]).toEqual(await listed());
    const receipts = async () => (await maker.client.listGovernanceReceipts()).body.data;
    await until(async () => (await receipts()).length > unproven.length);
    const faults = (await receipts()).flatMap(({ fault }) => fault ?? []);
    // Messages are handled concurrently, so the receipts can be in a different order than the calls.
    expect(faults.toSorted()).toEqual(['SIGNATURE_INVALID', 'kind', 'principal', 'session', 'tool']);
  });

  it('about a key of another workspace, or about none, is ignored', async () => {
    const stranger = await signInAs(gateway.url, `stranger-${people}@example.org`);
    const theirs = await makeKey(stranger);
    const { decision } = await callAt(gateway, theirs, { session_id: 'theirs' });
    const approvalId = decision.approval?.approval_id ?? '';
    for (const workspaceId of [maker.workspace.id, 'globex'])
      for (const principal of [keyPrincipal(theirs.id), 'key:hpk_nothing', 'researcher'])
        await kernelAsks(gateway, { approvalId, principal, workspaceId, sessionId: 'theirs' });
    // An agent at the kernel uses the name of the other workspace's key in this tenant.
    const { id: ours } = maker.workspace;
    const claim = { workspace_id: ours, sub: keyPrincipal(theirs.id), role: 'agent' } as never; // branded IDs
    const claimed = (await gateway.context.assertions?.sign(claim)) ?? '';
    const call = await callAt({ url: kernel.url }, { key: claimed }, { session_id: 'claimed' });
    const claimedId = call.decision.approval?.approval_id ?? '';
    const statement = { principal: keyPrincipal(theirs.id), workspaceId: ours, sessionId: 'claimed' };
    await kernelAsks(gateway, { approvalId: claimedId, ...statement });
    const honest = await ask();
    expect([await listed(), await listed(stranger)]).toEqual([[honest], []]);
  });

  verifies('gw.approvals', 'is delivered again while the kernel is unavailable', async () => {
    const { decision } = await callAt(gateway, key);
    kernel.fault = 'error_500';
    const before = kernel.paths.length;
    const approvalId = decision.approval?.approval_id ?? '';
    await kernelAsks(gateway, { approvalId, principal: keyPrincipal(key.id), workspaceId: maker.workspace.id });
    // The gateway also reads the keys of receipts, at intervals.
    const isRead = (path: string) => path !== '/api/v1/trust/keys';
    await until(async () => kernel.paths.slice(before).some(isRead));
    expect(await listed()).toEqual([]);
    kernel.fault = 'none';
    await until(async () => (await listed()).length === 1);
  });
});
