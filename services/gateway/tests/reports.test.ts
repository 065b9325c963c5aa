import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { keyPrincipal } from '@countersign/contracts';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import { reportsKeptMax } from '../src/store/reports.ts';
import { sweep } from '../src/workers/sweep.ts';
import { rowsOf, signInAs, type Person } from './_gateway.ts';
import { ofNoTwin, startReportedGateway, type ReportedGateway } from './_reports.ts';
import { sendChunked } from './_unusual-requests.ts';

const week = 7 * 24 * 3_600_000;
const decisionId = 'dec_01ARZ3NDEKTSV4RRFFQ69G5FAV';
let reported: ReportedGateway;
let ada: Person;
let eve: Person;

beforeAll(async () => {
  reported = await startReportedGateway();
  ({ ada } = reported);
  eve = await signInAs(reported.gateway.url, 'eve@example.org');
});

beforeEach(() => {
  reported.upstream.answer = (_req, res) => res.end('{}');
});

afterAll(() => reported?.stop());

const newTask = async (person: Person) =>
  (await person.client.createTask({ body: { title: 'T', description: '' } })).body;

const countKept = async (where = 'true') => {
  const text = `SELECT count(*)::int AS n FROM call_reports WHERE workspace_id = $1 AND ${ofNoTwin} AND ${where}`;
  const [row] = await rowsOf<{ n: number }>(reported.database, text, [ada.workspace.id]);
  return row?.n;
};

/** Start of these tests. No report is older. */
const beganMs = Date.now();

describe('a failed call', () => {
  verifies(
    'gw.report',
    'is reported with who called what for whom, how it ended, and the shape of what was sent',
    async () => {
      const task = await newTask(ada);
      const body = { title: 'A title', more: { hidden: 'x' }, description: ['x'] };
      const { requestId, status } = await reported.send(`/api/tasks/${task.id}?workspaceId=${ada.workspace.id}&odd=1`, {
        method: 'PUT',
        headers: ada.headers,
        body,
      });
      expect(status).toBe(400);
      const { id, createdAt, text, ...report } = await reported.reportOf(ada, requestId);
      expect(report).toEqual({
        requestId,
        method: 'PUT',
        path: '/api/tasks/{id}',
        pathIds: { id: task.id },
        operation: 'put-task',
        workspaceId: ada.workspace.id,
        status: 400,
        errorCode: 'UNKNOWN_MEMBER',
        reasonCode: null,
        auth: 'session',
        principal: ada.user.id,
        taskId: task.id,
        runId: null,
        decisionId: null,
        query: {
          state: 'read',
          members: [
            { path: '$', type: 'object', size: 2 },
            { path: 'workspaceId', type: 'string', size: 30 },
          ],
          unknownMembers: 1,
          isCut: false,
        },
        // The query is refused before the body is read.
        body: {
          contentType: 'application/json',
          bytes: JSON.stringify(body).length,
          state: 'unread',
          members: [],
          unknownMembers: 0,
          isCut: false,
        },
        version: '0.1.0',
      });
      expect(id).toMatch(/^rpt_/);
      expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(beganMs);
      expect(reported.loggedOf(requestId)).toMatchObject({
        method: 'PUT',
        path: '/api/tasks/{id}',
        path_ids: { id: task.id },
        workspace_id: ada.workspace.id,
        status: 400,
        error_code: 'UNKNOWN_MEMBER',
        auth: 'session',
        principal: ada.user.id,
        task_id: task.id,
      });
      for (const message of [
        requestId,
        'PUT /api/tasks/{id} was answered 400 UNKNOWN_MEMBER',
        task.id,
        'workspaceId: string(30)',
      ])
        expect(text).toContain(message);
    },
  );

  it('reports types and sizes of a body as far as the contract defines it', async () => {
    const path = `/api/workspace/${ada.workspace.id}/settings`;
    const policyConfig = { maxIterationBudget: 'many', blockedTools: ['a', 'bcd', 4], secret: { deep: 1 } };
    const { requestId } = await reported.send(path, {
      method: 'PUT',
      headers: ada.headers,
      body: { policyConfig, other: 1 },
    });
    const { body, pathIds } = await reported.reportOf(ada, requestId);
    expect(pathIds).toEqual({ id: ada.workspace.id });
    expect(body).toMatchObject({ state: 'read', unknownMembers: 2, isCut: false });
    expect(body.members).toEqual([
      { path: '$', type: 'object', size: 2 },
      { path: 'policyConfig', type: 'object', size: 3 },
      { path: 'policyConfig.maxIterationBudget', type: 'string', size: 4 },
      { path: 'policyConfig.blockedTools', type: 'array', size: 3 },
      { path: 'policyConfig.blockedTools[]', type: 'string', size: 3 },
      { path: 'policyConfig.blockedTools[]', type: 'number', size: null },
    ]);
    const broken = await reported.send('/api/tasks', { method: 'POST', headers: ada.headers, text: '{"title":' });
    expect((await reported.reportOf(ada, broken.requestId)).body).toMatchObject({
      state: 'malformed',
      bytes: 9,
      members: [],
    });
  });

  verifies(
    'gw.report',
    'that the kernel refused is reported with the decision, and with the key that made the call',
    async () => {
      const { body: key } = await ada.client.createApiKey({
        body: { name: 'agent', role: 'member', scopes: ['agent'], expiresInDays: 1 },
      });
      reported.upstream.answer = (_req, res) => {
        res
          .writeHead(403, { 'x-gov-decision-id': decisionId, 'x-gov-reason-code': 'POLICY_DENIED' })
          .end('{"secret":1}');
      };
      const headers = { 'x-api-key': key.key };
      const { requestId } = await reported.send('/v1/chat/completions', {
        method: 'POST',
        headers,
        body: { model: 'm', messages: [] },
      });
      const report = await reported.reportOf(ada, requestId);
      expect(report).toMatchObject({
        path: '/v1/chat/completions',
        status: 403,
        errorCode: null,
        decisionId,
        auth: 'api_key',
        principal: keyPrincipal(key.id),
        body: { state: 'unread', contentType: 'application/json', bytes: 27 },
      });
      // The length of a chunked body is unknown.
      const chunked = await sendChunked(reported.gateway.url, '/mcp', {
        headers: { ...headers, 'x-request-id': 'chunked-call' },
        body: `{"a":"${'x'.repeat(900_000)}"}`,
      });
      expect(chunked.status).toBe(403);
      expect((await reported.reportOf(ada, 'chunked-call')).body).toMatchObject({ state: 'unread', bytes: null });
    },
  );

  it('of a run or an approval belongs to its task', async () => {
    const task = await newTask(ada);
    const { body: run } = await ada.client.runTask({ params: { id: task.id } });
    const { requestId } = await reported.send(`/api/runs/${run.id}?odd=1`, { headers: ada.headers });
    expect(await reported.reportOf(ada, requestId)).toMatchObject({ taskId: task.id, runId: run.id });
    const { body } = await ada.client.listReports({ query: { taskId: task.id } });
    expect(body.data.map(({ requestId: id }) => id)).toEqual([requestId]);
  });

  it('of an unknown caller is only logged', async () => {
    const attempts: [Record<string, string>, string][] = [
      [{}, 'none'],
      [{ cookie: `countersign=cpa_${'A'.repeat(43)}` }, 'browser_session'],
      [{ authorization: 'Basic YWRhOnNlY3JldA==' }, 'unknown'],
      [{ authorization: `Bearer agk_${'a'.repeat(43)}` }, 'agent_key'],
      [{ 'x-api-key': `hp_${'a'.repeat(40)}` }, 'api_key'],
      [{ authorization: `Bearer cs_${'a'.repeat(43)}` }, 'session'],
    ];
    for (const [headers, auth] of attempts) {
      const named = { ...headers, 'x-workspace-id': ada.workspace.id };
      const { requestId, status } = await reported.send('/api/tasks', { headers: named });
      expect([status, reported.loggedOf(requestId)]).toEqual([
        401,
        expect.objectContaining({ auth, principal: null, status: 401 }),
      ]);
      await reported.allKept();
      expect(await reported.keptOf(requestId)).toEqual([]);
    }
  });

  it('of an agent that only the kernel knows is stored in the workspace that the kernel names', async () => {
    const keyId = `key_${'0'.repeat(26)}`;
    const nothing = { state: 'none', members: [], unknownMembers: 0, isCut: false };
    const body = { ...nothing, contentType: null, bytes: null };
    const report = { error_code: 'PERMISSION_DENIED', reason_code: null, decision_id: null, query: nothing, body };
    const sentBy = async (caller: object | null) => {
      const header = Buffer.from(JSON.stringify({ ...report, caller })).toString('base64url');
      reported.upstream.answer = (_req, res) => void res.writeHead(403, { 'x-told-request': header }).end('{}');
      const headers = { authorization: `Bearer agk_${'a'.repeat(43)}` };
      return reported.send('/api/v1/evaluate', { method: 'POST', headers, body: {} });
    };
    const { requestId } = await sentBy({ workspace_id: ada.workspace.id, key_id: keyId });
    const found = { workspaceId: ada.workspace.id, principal: keyId, auth: 'agent_key', status: 403 };
    expect(await reported.reportOf(ada, requestId)).toMatchObject(found);
    await expect(eve.client.getReport({ params: { requestId } })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    for (const caller of [
      null,
      { workspace_id: ada.workspace.id, key_id: 'a text' },
      { workspace_id: 'any', key_id: keyId },
    ]) {
      const unknown = await sentBy(caller);
      await reported.allKept();
      expect(await reported.keptOf(unknown.requestId)).toEqual([]);
    }
  });

  it('is stored despite a flood of unknown routes, whose lookups never end', async () => {
    const { body: key } = await ada.client.createApiKey({
      body: { name: 'reader', role: 'member', scopes: ['read'], expiresInDays: 1 },
    });
    const client = new pg.Client({ connectionString: reported.database.adminUrl });
    await client.connect();
    try {
      await client.query(`BEGIN; LOCK TABLE ${reported.database.schema}.sessions IN ACCESS EXCLUSIVE MODE`);
      const headers = { authorization: `Bearer cs_${'A'.repeat(43)}` };
      await Promise.all(Array.from({ length: 600 }, () => reported.send('/api/nowhere', { headers })));
      const own = await reported.send('/api/tasks?odd=1', { headers: { 'x-api-key': key.key } });
      await until(async () => (await reported.keptOf(own.requestId)).length > 0);
    } finally {
      await client.end();
    }
  });

  it('of the reader is returned instead of that of a colleague with the same request ID', async () => {
    const bea = await reported.memberOf('bea-of-ids@example.org', 'member');
    const { requestId } = await reported.send('/api/tasks?odd=1', { headers: ada.headers });
    await reported.reportOf(ada, requestId);
    await reported.send('/api/runs?odd=1', { headers: { ...bea.headers, 'x-request-id': requestId } });
    await until(async () => (await reported.keptOf(requestId)).length === 2);
    const { body } = await ada.client.getReport({ params: { requestId } });
    expect([body.principal, body.path]).toEqual([ada.user.id, '/api/tasks']);
  });

  it('of a member without the right to it is stored', async () => {
    const bea = await reported.memberOf('bea@example.org', 'member');
    const { body: key } = await ada.client.createApiKey({
      body: { name: 'reader', role: 'member', scopes: ['read'], expiresInDays: 1 },
    });
    const refused = [
      await reported.send(`/api/workspace/${ada.workspace.id}/invites`, { headers: bea.headers }),
      await reported.send('/mcp', { headers: bea.headers }),
      await reported.send('/mcp', { headers: { 'x-api-key': key.key } }),
      await reported.send('/api/auth/sessions', { headers: { 'x-api-key': key.key } }),
    ];
    for (const { requestId, status } of refused) {
      expect(status).toBe(403);
      expect(await reported.reportOf(ada, requestId)).toMatchObject({ status: 403, errorCode: 'PERMISSION_DENIED' });
    }
  });
});

describe('a report', () => {
  it('is visible to its caller, to partners and to the owner only', async () => {
    const [bea, carl] = [
      await reported.memberOf('bea@example.org', 'member'),
      await reported.memberOf('carl@example.org', 'partner'),
    ];
    const { requestId } = await reported.send('/api/tasks?odd=1', { headers: bea.headers });
    await reported.reportOf(bea, requestId);
    await reported.reportOf(carl, requestId);
    await reported.reportOf(ada, requestId);
    const { requestId: adas } = await reported.send('/api/tasks?odd=2', { headers: ada.headers });
    await reported.reportOf(ada, adas);
    for (const [person, id] of [
      [bea, adas],
      [eve, requestId],
      [eve, 'no-such-call'],
      [ada, 'no%00such'],
    ] as const) {
      const failure = person.client.getReport({ params: { requestId: id } });
      await expect(failure).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: 'This object does not exist, or you have no access to it. Check its ID and the workspace',
      });
    }
    const { body: own } = await bea.client.listReports({});
    expect(new Set(own.data.map(({ principal }) => principal))).toEqual(new Set([bea.user.id]));
    const { body: all } = await carl.client.listReports({});
    expect(all.data.map(({ requestId: id }) => id)).toEqual(expect.arrayContaining([requestId, adas]));
    expect((await eve.client.listReports({})).body.data.map(({ requestId: id }) => id)).not.toContain(adas);
  });

  it('is listed by status and time, page by page', async () => {
    const from = new Date().toISOString();
    const sent = [
      await reported.send('/api/tasks?odd=1', { headers: ada.headers }),
      await reported.send('/api/tasks/none', { headers: ada.headers }),
      await reported.send('/api/tasks?odd=2', { headers: ada.headers }),
    ];
    await reported.reportOf(ada, sent[2]?.requestId ?? '');
    const ids = async (query: object) =>
      (await ada.client.listReports({ query })).body.data.map(({ requestId }) => requestId);
    const expected = sent.map(({ requestId }) => requestId).reverse();
    expect(await ids({ from })).toEqual(expected);
    expect(await ids({ from, status: 404 })).toEqual([expected[1]]);
    expect((await ids({ to: from })).filter((id) => expected.includes(id))).toEqual([]);
    const { body: first } = await ada.client.listReports({ query: { from, limit: 2 } });
    const cursor = first.nextCursor ?? '';
    expect(await ids({ from, limit: 2, cursor })).toEqual([expected[2]]);
  });

  it('is kept for a week', async () => {
    const { requestId } = await reported.send('/api/tasks?odd=1', { headers: ada.headers });
    await reported.reportOf(ada, requestId);
    reported.setAhead(week - 60_000);
    await sweep(reported.gateway.context);
    expect(await countKept(`request_id = '${requestId}'`)).toBe(1);
    reported.setAhead(week + 60_000);
    await sweep(reported.gateway.context);
    reported.setAhead(0);
    expect(await countKept()).toBe(0);
  });

  it('is replaced by newer ones of its workspace only', async () => {
    const { requestId } = await reported.send('/api/tasks?odd=1', { headers: ada.headers });
    const { requestId: eves } = await reported.send('/api/tasks?odd=1', { headers: eve.headers });
    await Promise.all([reported.reportOf(ada, requestId), reported.reportOf(eve, eves)]);
    await rowsOf(
      reported.database,
      `INSERT INTO call_reports SELECT 'rpt_' || lpad(n::text, 26, '0'), workspace_id, user_id, 'old', status, task_id, run_id, report, created_at
         FROM call_reports, generate_series(1, ${reportsKeptMax}) n WHERE request_id = $1 AND workspace_id = $2`,
      [requestId, ada.workspace.id],
    );
    const { requestId: newest } = await reported.send('/api/tasks?odd=1', { headers: ada.headers });
    await reported.reportOf(ada, newest);
    expect(await countKept()).toBe(reportsKeptMax);
    expect(await countKept(`request_id IN ('${requestId}', '${newest}')`)).toBe(2);
    await reported.reportOf(eve, eves);
  });

  it('that cannot be stored is counted, and its call is answered as usual', async () => {
    await rowsOf(reported.database, 'ALTER TABLE call_reports RENAME TO call_reports_away');
    const { requestId, status } = await reported.send('/api/tasks?odd=1', { headers: ada.headers });
    const counted = async () =>
      /countersign_reports_dropped\w*\{why="not_written"\} [1-9]/.test(await reported.metrics());
    await until(counted);
    await rowsOf(reported.database, 'ALTER TABLE call_reports_away RENAME TO call_reports');
    expect([status, reported.loggedOf(requestId)?.['status']]).toEqual([400, 400]);
    expect(await countKept(`request_id = '${requestId}'`)).toBe(0);
    const { requestId: later } = await reported.send('/api/tasks?odd=1', { headers: ada.headers });
    await reported.reportOf(ada, later);
  });
});
