import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TaskStatus, WorkspaceMode } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import {
  clientOf,
  contentOf,
  putMember,
  rowsOf,
  signInAs,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
  person = await signInAs(gateway.url, 'ada@example.org');
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

async function newTask(title = 'A task'): Promise<string> {
  return (await person.client.createTask({ body: { title, description: '' } })).body.id;
}

describe('a task', () => {
  verifies('gw.task.create', 'is stored with its audit entry, its evidence and its event, or not at all', async () => {
    const before = await contentOf(database);
    const { body: task, status } = await person.client.createTask({
      body: { title: ' Ship it ', description: 'Carefully' },
    });
    expect(status).toBe(201);
    expect(task).toMatchObject({
      title: 'Ship it',
      status: 'pending',
      workspaceId: person.workspace.id,
      createdBy: person.user.id,
    });
    const rows = await rowsOf(database, 'SELECT kind, metadata FROM evidence_items WHERE task_id = $1', [task.id]);
    expect(rows).toEqual([{ kind: 'task_created', metadata: { titleLength: 7, descriptionLength: 9 } }]);
    const { body: audit } = await person.client.listAudit({ query: { action: 'task.created' } });
    expect(audit.data[0]).toMatchObject({ subject: task.id, actor: person.user.id, verdict: 'allow' });
    const events = await rowsOf(database, "SELECT type FROM outbox WHERE envelope LIKE '%' || $1 || '%'", [task.id]);
    expect(events).toEqual([{ type: 'task.created.v1' }]);
    const written = await contentOf(database);
    expect(written).toMatchObject({
      tasks: (before['tasks'] ?? 0) + 1,
      audit_entries: (before['audit_entries'] ?? 0) + 1,
    });

    for (const table of ['evidence_items', 'audit_entries', 'outbox']) {
      const stored = await contentOf(database);
      await rowsOf(database, `ALTER TABLE ${table} ADD CONSTRAINT refuse_all CHECK (false) NOT VALID`);
      await expect(person.client.createTask({ body: { title: 'Lost', description: '' } })).rejects.toMatchObject({
        code: 'INTERNAL',
      });
      await rowsOf(database, `ALTER TABLE ${table} DROP CONSTRAINT refuse_all`);
      expect([table, await contentOf(database)]).toEqual([table, stored]);
    }
  });

  it('is created once per Idempotency-Key, and the key is bound to its payload and workspace', async () => {
    const headers = { 'idempotency-key': 'create-1' };
    const first = await person.client.createTask({ body: { title: 'Once', description: '' }, headers });
    const second = await person.client.createTask({ body: { title: 'Once', description: '' }, headers });
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    await expect(
      person.client.createTask({ body: { title: 'Twice', description: '' }, headers }),
    ).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  verifies(
    'gw.task.moves',
    'makes the published moves only; every other one is a 409 that names the allowed ones and changes nothing',
    async () => {
      const published: Record<string, string[]> = {
        pending: ['queued', 'cancelled'],
        queued: ['cancelled'],
        running: ['cancelled'],
        awaiting_approval: ['cancelled'],
        completed: ['queued'],
        failed: ['queued'],
        cancelled: ['queued'],
      };
      for (const from of TaskStatus.options) {
        for (const to of TaskStatus.options) {
          const id = await newTask();
          await rowsOf(database, 'UPDATE tasks SET status = $2 WHERE id = $1', [id, from]);
          const before = await contentOf(database);
          const move = person.client.putTaskStatus({ params: { id }, body: { status: to } });
          if (published[from]?.includes(to)) {
            const { body, status } = await move;
            expect([from, to, body.status, status]).toEqual([from, to, to, to === 'queued' ? 202 : 200]);
            expect(body.run?.status ?? null).toBe(to === 'queued' ? 'queued' : null);
          } else {
            await expect(move).rejects.toMatchObject({
              code: 'ILLEGAL_TRANSITION',
              details: { allowed: published[from] },
            });
            expect(await contentOf(database)).toEqual(before);
          }
        }
      }
    },
  );

  it('has at most one live run, also with simultaneous requests', async () => {
    const id = await newTask();
    const requests = await Promise.allSettled(
      Array.from({ length: 8 }, () => person.client.runTask({ params: { id } })),
    );
    expect(requests.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const answer of requests)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect((await person.client.listRuns({ params: { id } })).body.data).toHaveLength(1);
    await person.client.putTaskStatus({ params: { id }, body: { status: 'cancelled' } });
    expect((await person.client.listRuns({ params: { id } })).body.data[0]?.status).toBe('cancelled');
  });

  it('is changed and deleted only while no run works on it, and its runs stay visible', async () => {
    const params = { id: await newTask('Draft') };
    const pending = person.client.putTask({ params, body: { title: ' Final ', description: 'With care' } });
    expect((await pending).body).toMatchObject({ id: params.id, title: 'Final', description: 'With care' });
    expect((await person.client.putTask({ params, body: { title: 'Renamed' } })).body.description).toBe('With care');
    const { body: run } = await person.client.runTask({ params });
    const before = await contentOf(database);
    const refused = { code: 'ILLEGAL_TRANSITION', message: expect.stringContaining('The task is queued') };
    await expect(person.client.putTask({ params, body: { title: 'Other' } })).rejects.toMatchObject(refused);
    await expect(person.client.deleteTask({ params })).rejects.toMatchObject(refused);
    expect(await contentOf(database)).toEqual(before);

    await person.client.putTaskStatus({ params, body: { status: 'cancelled' } });
    await person.client.deleteTask({ params });
    const gone = { code: 'NOT_FOUND', status: 404 };
    await expect(person.client.getTask({ params })).rejects.toMatchObject(gone);
    await expect(person.client.putTask({ params, body: { title: 'Other' } })).rejects.toMatchObject(gone);
    await expect(person.client.deleteTask({ params })).rejects.toMatchObject(gone);
    await expect(person.client.runTask({ params })).rejects.toMatchObject(gone);
    await expect(person.client.listRuns({ params })).rejects.toMatchObject(gone);
    expect((await person.client.getRun({ params: { runId: run.id } })).body).toMatchObject({ status: 'cancelled' });
    const listed = [
      ...(await person.client.listTasks()).body.data,
      ...(await person.client.listTasks({ query: { status: 'cancelled' } })).body.data,
    ];
    expect(listed.map(({ id }) => id)).not.toContain(params.id);
    const { data } = (await person.client.listAudit({ query: { limit: 200 } })).body;
    expect(data.filter(({ subject }) => subject === params.id).map(({ action }) => action)).toEqual([
      'task.deleted',
      'task.changed',
      'task.changed',
      'task.created',
    ]);
  });

  it('is deleted by its creator, and otherwise only by partners and owners', async () => {
    const guest = await signInAs(gateway.url, 'helper@example.org');
    const workspaceId = person.workspace.id;
    await putMember(database, { workspaceId, userId: guest.user.id, role: 'member' });
    const client = clientOf(gateway.url, { ...guest.headers, 'x-workspace-id': workspaceId });
    const theirs = { id: await newTask('Not theirs') };
    const own = { id: (await client.createTask({ body: { title: 'Own', description: '' } })).body.id };
    await expect(client.deleteTask({ params: theirs })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    expect((await person.client.getTask({ params: theirs })).body.title).toBe('Not theirs');
    const { data } = (await person.client.listAudit({ query: { verdict: 'deny' } })).body;
    expect(data[0]).toMatchObject({ action: 'task.delete', subject: theirs.id, actor: guest.user.id });
    await client.deleteTask({ params: own });
    await person.client.deleteTask({ params: theirs });
    await person.client.removeMember({ params: { id: workspaceId, userId: guest.user.id } });
  });

  it('is listed newest first in pages that inserts do not shift', async () => {
    const ids = [];
    for (let count = 0; count < 5; count += 1) ids.unshift(await newTask(`Task ${count}`));
    const first = await person.client.listTasks({ query: { limit: 2 } });
    await newTask('Later');
    const second = await person.client.listTasks({ query: { limit: 3, cursor: first.body.nextCursor ?? '' } });
    expect([...first.body.data, ...second.body.data].map((task) => task.id)).toEqual(ids);
  });
});

describe('a workspace', () => {
  verifies('gw.mode', 'accepts each of the five modes, and nothing else', async () => {
    const params = { id: person.workspace.id };
    for (const mode of WorkspaceMode.options) {
      expect((await person.client.putWorkspaceMode({ params, body: { mode } })).body).toEqual({
        id: person.workspace.id,
        mode,
      });
      expect((await person.client.getWorkspace({ params })).body.mode).toBe(mode);
    }
    const { body } = await person.client.listModes();
    expect(body.modes.map(({ id }) => id)).toEqual(WorkspaceMode.options);
    for (const mode of ['BUILD', '', 'deploy', null, 1]) {
      const headers = { ...person.headers, 'content-type': 'application/json' };
      const response = await fetch(new URL(`/api/workspace/${person.workspace.id}/mode`, gateway.url), {
        method: 'PUT',
        headers,
        body: JSON.stringify({ mode }),
      });
      expect([mode, response.status]).toEqual([mode, 400]);
    }
  });

  it('shows its members, and only an owner can change it', async () => {
    const guest = await signInAs(gateway.url, 'guest@example.org');
    const workspaceId = person.workspace.id;
    await putMember(database, {
      workspaceId,
      userId: guest.user.id,
      role: 'partner',
    });
    const client = clientOf(gateway.url, { ...guest.headers, 'x-workspace-id': workspaceId });
    const params = { id: workspaceId };
    const { body } = await client.getWorkspace({ params });
    expect(body.members.map(({ email, role }) => [email, role])).toEqual([
      ['ada@example.org', 'owner'],
      ['guest@example.org', 'partner'],
    ]);
    const before = await contentOf(database);
    await expect(client.putWorkspaceMode({ params, body: { mode: 'build' } })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
    await expect(client.putWorkspaceSettings({ params, body: {} })).rejects.toMatchObject({
      code: 'PERMISSION_DENIED',
    });
    expect(await contentOf(database)).toEqual({ ...before, audit_entries: (before['audit_entries'] ?? 0) + 2 });
    const denials = await person.client.listAudit({ query: { verdict: 'deny', actor: guest.user.id } });
    expect(denials.body.data.map(({ action }) => action)).toEqual(['put-workspace-settings', 'put-workspace-mode']);
  });
});

describe('settings', () => {
  verifies('gw.settings', 'replace the sent sections, keep the others, and enforce their limits', async () => {
    const params = { id: person.workspace.id };
    const { body: defaults } = await person.client.getWorkspaceSettings({ params });
    expect(defaults.policyConfig).toEqual({ maxIterationBudget: 25, blockedTools: [], deniedCall: 'end' });
    const policyConfig = { maxIterationBudget: 7, blockedTools: ['files.delete'], deniedCall: 'end' as const };
    const written = await person.client.putWorkspaceSettings({ params, body: { policyConfig } });
    expect(written.body).toEqual({ ...defaults, policyConfig });
    const budgetConfig = { monthlyLlmBudget: 12.5, currency: 'EUR' };
    const stale = { 'if-match': '"stale"' };
    await expect(
      person.client.putWorkspaceSettings({ params, body: { budgetConfig }, headers: stale }),
    ).rejects.toMatchObject({ code: 'PRECONDITION_FAILED' });
    const current = { 'if-match': written.headers.get('etag') ?? '' };
    await person.client.putWorkspaceSettings({ params, body: { budgetConfig }, headers: current });
    expect((await person.client.getWorkspaceSettings({ params })).body).toEqual({
      ...defaults,
      policyConfig,
      budgetConfig,
    });
    const refused = [
      { policyConfig: { maxIterationBudget: 0 } },
      { policyConfig: { maxIterationBudget: 101 } },
      { policyConfig: { maxIterationBudget: 1.5 } },
      { policyConfig: { blockedTools: [''] } },
      { policyConfig: { surprise: true } },
      { budgetConfig: { monthlyLlmBudget: -1, currency: 'EUR' } },
      { budgetConfig: { monthlyLlmBudget: 1.005, currency: 'EUR' } },
      { budgetConfig: { monthlyLlmBudget: 1, currency: 'euro' } },
      { budgetConfig: { monthlyLlmBudget: 1, currency: 'XXQ' } },
      { budgetConfig: { monthlyLlmBudget: 1, currency: 'XTS' } },
      { modelConfig: { temperature: 2.1 } },
    ];
    for (const body of refused) {
      const headers = { ...person.headers, 'content-type': 'application/json' };
      const response = await fetch(new URL(`/api/workspace/${params.id}/settings`, gateway.url), {
        method: 'PUT',
        headers,
        body: JSON.stringify(body),
      });
      expect([body, response.status]).toEqual([body, 400]);
    }
    expect((await person.client.getWorkspaceSettings({ params })).body).toEqual({
      ...defaults,
      policyConfig,
      budgetConfig,
    });
  });
});
