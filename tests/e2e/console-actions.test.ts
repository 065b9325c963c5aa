import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startNoteServer, type NoteServer } from '@countersign/testkit/mcp-server';
import type { StartedSystem } from '@countersign/local';
import { untilAnswered } from '@countersign/testkit/until';
import { personAt, type Person } from './_signed-in.ts';
import { addressBook, kernelClient, scratchDataDir, startIn } from './_system.ts';

const address = addressBook();
const dataDir = scratchDataDir();
let system: StartedSystem;
let notes: NoteServer;
let ada: Person;
let eve: Person;
let key: string;

type Members = Record<string, unknown>;

beforeAll(async () => {
  mkdirSync(join(dataDir.path, 'files'), { recursive: true });
  notes = await startNoteServer();
  const servers = [{ server_id: 'notes', transport: 'http', trust_annotations: true, url: notes.url }];
  // The file has its own system, because the test holds calls of its tools.
  system = await startIn(dataDir.path, { GOV_RATE_LIMITS: '0', GOV_MCP_SERVERS: JSON.stringify({ servers }) });
});

let tests = 0;

beforeEach(async () => {
  const nth = ++tests;
  ada = await personAt(system.gatewayUrl, address(`ada-${nth}`));
  eve = await personAt(system.gatewayUrl, address(`eve-${nth}`));
  key = (await ada.client.createApiKey({ body: { name: 'crawler' } as never })).body.key; // the schema adds defaults
});

afterAll(async () => {
  await system?.stop();
  await notes?.close();
  dataDir.remove();
});

const placeOf = ({ workspaceId }: Pick<Person, 'workspaceId'>) => `/api/v1/workspaces/${workspaceId}`;
const dataOf = ({ body }: { body: Members }) => body['data'] as Members[];
const listOf = async (who: Person, list: string) => dataOf(await who.tab.send(`${placeOf(who)}/${list}`));

/** Sends a request with the key. */
async function ask(path: string, body: Members): Promise<Members> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const response = await fetch(new URL(path, system.gatewayUrl), {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return (await response.json()) as Members;
}

describe('the tasks of a workspace', () => {
  it('are those of the gateway, are made once per Idempotency-Key, and are completed by runs from the console', async () => {
    const create = (body: Members) =>
      ada.tab.send(`${placeOf(ada)}/tasks`, { method: 'POST', body, headers: { 'idempotency-key': 'once' } });
    const made = await create({ title: 'Greet', description: 'say hello' });
    expect([made.status, made.body['status']]).toEqual([201, 'pending']);
    expect((await create({ title: 'Greet', description: 'say hello' })).body).toEqual(made.body);
    expect((await create({ title: 'Else' })).status).toBe(422);
    const { data } = (await ada.client.listTasks()).body;
    expect(data.map(({ id, title }) => [id, title])).toEqual([[made.body['task_id'], 'Greet']]);
    const body = { task_id: made.body['task_id'] };
    expect((await ada.tab.send(`${placeOf(ada)}/runs`, { method: 'POST', body })).status).toBe(202);
    await untilAnswered(async () => (await listOf(ada, 'tasks?status=completed')).length === 1);
    expect((await listOf(ada, 'tasks'))[0]).toMatchObject({
      ...made.body,
      status: 'completed',
      updated_at: expect.anything(),
      completed_at: expect.any(String),
    });
    expect(await listOf(eve, 'tasks')).toEqual([]);
  });
});

describe('the actions of a workspace', () => {
  it('show each decision with the outcome of its call and its run', async () => {
    const file = join(system.filesDir, 'notes.md');
    writeFileSync(file, 'Answer the customer.\n');
    const body = { title: 'Read', description: `call:files__read_text_file ${JSON.stringify({ path: file })}` };
    const { run_id: runId } = (await ada.tab.send(`${placeOf(ada)}/runs`, { method: 'POST', body })).body;
    const read = await untilAnswered(async () => {
      const [action] = await listOf(ada, `actions?tool=files.read_text_file&session_id=${String(runId)}`);
      return action?.['outcome'] === 'completed' && action;
    });
    const { data: sealed } = (
      await kernelClient(system, ada.workspaceId).listReceipts({ query: { session_id: String(runId) } })
    ).body;
    const ofCall = sealed
      .filter(({ payload }) => payload.tool === 'files.read_text_file')
      .map(({ payload }) => payload);
    expect(read).toMatchObject({
      ...{ verdict: 'ALLOW', dispatched_by: 'kernel', run_id: runId, approval_id: null, shadow: false },
      receipt_ids: [
        ofCall.find(({ kind }) => kind === 'decision')?.receipt_id,
        ofCall.find(({ kind }) => kind === 'outcome')?.receipt_id,
      ],
      settled_at: ofCall.find(({ kind }) => kind === 'outcome')?.issued_at,
    });
  });

  it('show a pending call as open, a failed call as failed, and no outcome for a call that was never sent', async () => {
    const call = (tool: string, args: Members) => ask('/mcp/v1/execute', { tool, args, session_id: 'doors' });
    let letGo = () => undefined as void;
    notes.hold(() => new Promise((resolve) => (letGo = resolve)));
    const before = notes.calls.length;
    const slow = call('notes.read_note', { id: 'a' });
    await untilAnswered(async () => notes.calls.length > before);
    expect(await listOf(ada, 'actions?session_id=doors')).toMatchObject([
      { tool: 'notes.read_note', outcome: 'open', receipt_ids: [expect.any(String)], settled_at: null, run_id: null },
    ]);
    notes.hold(async () => undefined);
    letGo();
    await slow;
    await call('notes.write_note', { id: 'a', text: 'x' });
    const question = {
      action: 'tool.call',
      tool: 'mail.send',
      effect_level: 'E3',
      session_id: `run_01ARZ3NDEKTSV4RRFFQ69G5FAV`,
    };
    const { approval } = (await ask('/api/v1/evaluate', question)) as { approval?: Members };
    const [input] = await listOf(ada, 'actions?tool=mail.send');
    // A key may name its session freely, so a session name implies no run.
    expect(input).toMatchObject({
      verdict: 'ESCALATE',
      outcome: 'none',
      approval_id: approval?.['approval_id'],
      run_id: null,
    });
    expect((await listOf(ada, 'actions?session_id=doors')).map(({ tool, outcome }) => [tool, outcome])).toEqual([
      ['notes.write_note', 'completed'],
      ['notes.read_note', 'failed'],
    ]);
  });

  it('are paged without a gap, and hidden from strangers', async () => {
    const question = (nth: number) => ({ action: 'tool.call', tool: 'mail.send', session_id: `paged-${nth}` });
    await Promise.all([1, 2, 3, 4].map((nth) => ask('/api/v1/evaluate', question(nth))));
    const all = await listOf(ada, 'actions?limit=200');
    const paged: Members[] = [];
    for (let cursor = ''; ;) {
      const page = await ada.tab.send(`${placeOf(ada)}/actions?limit=1${cursor}`);
      paged.push(...dataOf(page));
      if (page.body['next_cursor'] === null) break;
      cursor = `&cursor=${String(page.body['next_cursor'])}`;
    }
    expect(paged).toEqual(all);
    expect(all.length).toBeGreaterThan(3);
    expect(await listOf(eve, 'actions')).toEqual([]);
  });
});

describe('the tools of a workspace', () => {
  it('are those of the registry, with a mark on the tools that the workspace blocks', async () => {
    const params = { id: ada.workspaceId };
    const { body: settings, headers } = await ada.client.getWorkspaceSettings({ params });
    const { policyConfig, budgetConfig } = settings;
    const blocking = { policyConfig: { ...policyConfig, blockedTools: ['notes.pay'] }, budgetConfig } as never; // within their schema
    await ada.client.putWorkspaceSettings({
      params,
      body: blocking,
      headers: { 'if-match': headers.get('etag') ?? '' },
    });
    // The kernel receives the change before the next call.
    expect(await ask('/mcp/v1/execute', { tool: 'notes.pay', args: { amount: 1 }, session_id: 'doors' })).toMatchObject(
      {
        decision: { verdict: 'DENY' },
      },
    );
    const blockedFor = async (who: Person) =>
      (await listOf(who, 'tools?limit=200')).filter((tool) => tool['blocked']).map(({ tool }) => tool);
    expect(await blockedFor(ada)).toEqual(['notes.pay']);
    expect(await blockedFor(eve)).toEqual([]);
    const tools = await listOf(eve, 'tools?limit=200');
    expect(tools.map(({ tool }) => tool)).toEqual(expect.arrayContaining(['files.read_text_file', 'notes.read_note']));
    expect(tools.every(({ pin, server_state: state }) => pin === 'in_sync' && state === 'approved')).toBe(true);
  });
});
