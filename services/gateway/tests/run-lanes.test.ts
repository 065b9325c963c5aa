import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import { getLane, putLane, type LaneState } from '@countersign/contracts/gateway';
import type { TestDatabase } from '@countersign/database/testing';
import { until } from '@countersign/testkit/until';
import pg from 'pg';
import type { StartedGateway } from '../src/index.ts';
import { workOnRun } from '../src/orchestrator/work-on-run.ts';
import { claimDueRun } from '../src/store/due-runs.ts';
import { setLane } from '../src/store/lanes.ts';
import {
  rowsOf,
  runReaching,
  serviceKey,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
/** Gateway that leases runs. */
let gateway: StartedGateway;
/** Gateway without workers. A test acts as its worker. */
let idle: StartedGateway;
let person: Person;
const kernel = new KernelStub();
const live = new AbortController().signal;

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const env = { GOV_GOVERNANCE_URL: kernel.url, GOV_COMMERCIAL_URL: 'http://127.0.0.1:9' };
  idle = await startTestGateway(testConfig(database, { ...env, GOV_RUN_WORKERS: '0' }));
  gateway = await startTestGateway(testConfig(database, { ...env, GOV_RUN_WORKERS: '2', GOV_RUN_LEASE: '2s' }));
});
beforeEach(async () => {
  person = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
  kernel.beforeModelAnswer = async () => undefined;
  kernel.settings.beforeTaken = async () => undefined;
  kernel.modelCalls.length = 0;
  kernel.executed.length = 0;
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
});
afterAll(async () => {
  await gateway?.stop();
  await idle?.stop();
  await kernel.kill();
  await database?.drop();
});

const sibling = (key = serviceKey) =>
  createClient({ getLane, putLane }, { baseUrl: gateway.url, headers: () => ({ authorization: `Bearer ${key}` }) });
const params = () => ({ workspace_id: person.workspace.id });
const put = async (lane: LaneState, version: number) =>
  (await sibling().putLane({ params: params(), body: { lane, version, by: person.user.id } })).body;
const laneNow = async () => (await sibling().getLane({ params: params() })).body;
const jobsAreUsed = () =>
  until(async () => {
    const [{ left } = { left: -1 }] = await rowsOf<{ left: number }>(
      database,
      `SELECT count(*)::int AS left FROM runs WHERE workspace_id = $1 AND status = 'queued' AND NOT over_limit`,
      [person.workspace.id],
    );
    return left === 0;
  });

describe('a lane that is held', () => {
  it('leases no queued run, and runs each once when it opens', async () => {
    expect(await put('hold', 1)).toEqual({ lane: 'hold', version: 1, running: 0, queued: 0 });
    const runs = [await startRun(person, 'One'), await startRun(person, 'Two'), await startRun(person, 'Three')];
    await jobsAreUsed();
    expect([await laneNow(), kernel.modelCalls]).toEqual([{ lane: 'hold', version: 1, running: 0, queued: 3 }, []]);
    // Runs of other workspaces are still leased.
    const second = await signInAs(gateway.url, `${crypto.randomUUID()}@example.org`);
    expect(await runReaching(second, (await startRun(second)).taskId)).toMatchObject({ status: 'completed' });
    kernel.executed.length = 0;
    await put('run', 2);
    for (const { taskId } of runs) expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
    expect(kernel.executed).toHaveLength(3);
  });

  it('lets the running step end, and begins no other one until it opens', async () => {
    let answer = () => undefined as void;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    let isAsked = false;
    kernel.beforeModelAnswer = async () => {
      isAsked = true;
      await answered;
    };
    const { taskId } = await startRun(person);
    await until(() => isAsked);
    expect(await put('hold', 1)).toMatchObject({ running: 1, queued: 0 });
    answer();
    await until(async () => (await laneNow()).running === 0);
    const stored = await runReaching(person, taskId, ['queued']);
    expect(stored.steps.map(({ kind, endedAt }) => [kind, endedAt !== null])).toEqual([['model_call', true]]);
    expect(kernel.executed).toEqual([]);
    await put('run', 2);
    const { status, steps } = await runReaching(person, taskId);
    expect([status, steps.map(({ kind }) => kind)]).toEqual(['completed', ['model_call', 'tool_call', 'model_call']]);
    expect([kernel.executed.length, kernel.modelCalls.length]).toEqual([1, 2]);
  });

  it('ends the open step of a dead worker once, and then waits', async () => {
    let isDead = false;
    kernel.beforeModelAnswer = async () => {
      if (isDead) return;
      isDead = true;
      await put('hold', 1);
      // Sets the state that a dead worker leaves. The worker of this step can then not settle it or return the run.
      await rowsOf(
        database,
        `UPDATE runs SET lease_fence = lease_fence + 1, lease_until = now() - interval '1 s' WHERE workspace_id = $1`,
        [person.workspace.id],
      );
    };
    const { taskId } = await startRun(person);
    await until(async () => isDead && (await laneNow()).running === 0);
    const { steps } = await runReaching(person, taskId, ['queued']);
    expect(steps.map(({ kind, endedAt }) => [kind, endedAt !== null])).toEqual([['model_call', true]]);
    await put('run', 2);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
    expect(kernel.executed).toHaveLength(1);
  });

  it('begins no step of a run whose worker was about to begin one', async () => {
    kernel.settings.beforeTaken = async () => void (await put('hold', 1));
    const { taskId } = await startRun(person);
    await until(async () => (await laneNow()).lane === 'hold' && (await laneNow()).running === 0);
    expect(await runReaching(person, taskId, ['queued'])).toMatchObject({ steps: [] });
    expect(kernel.modelCalls).toEqual([]);
  });

  it('does not fail a run when the kernel is unavailable in the meantime', async () => {
    await put('hold', 1);
    const { taskId, runId } = await startRun(person);
    await jobsAreUsed();
    await rowsOf(
      database,
      `UPDATE runs SET status = 'running', lease_fence = 1, lease_until = now() + interval '1 h' WHERE id = $1`,
      [runId],
    );
    const place = { runId, taskId, workspaceId: person.workspace.id };
    const lease = { ...place, owner: 'worker', fence: 1, startedBy: person.user.id };
    await workOnRun({ ...idle.context, kernel: null }, async () => lease, live);
    expect(await laneNow()).toMatchObject({ running: 0, queued: 1 });
  });
});

describe('a lane', () => {
  it('changes only by a later version, with one audit entry per change', async () => {
    expect(await put('hold', 5)).toMatchObject({ lane: 'hold', version: 5 });
    expect(await put('hold', 5)).toMatchObject({ lane: 'hold', version: 5 });
    expect(await put('run', 4)).toMatchObject({ lane: 'hold', version: 5 });
    expect(await put('run', 6)).toMatchObject({ lane: 'run', version: 6 });
    const { data } = (await person.client.listAudit({})).body;
    expect(data.filter(({ action }) => action.startsWith('lane.'))).toMatchObject([
      { action: 'lane.run', actor: person.user.id },
      { action: 'lane.hold', actor: person.user.id },
    ]);
  });

  it('is set only by siblings, and for existing workspaces', async () => {
    const body = { lane: 'hold', version: 1, by: 'x' } as const;
    const byPerson = sibling(person.token).putLane({ params: params(), body });
    await expect(byPerson).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
    const unknown = { workspace_id: 'wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV' };
    await expect(sibling().putLane({ params: unknown, body })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(sibling().getLane({ params: unknown })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await laneNow()).toMatchObject({ lane: 'run', version: 0 });
  });

  it('is held only after a worker has finished choosing a run, so no run is leased after the hold', async () => {
    const { transaction } = idle.context.database;
    const workspaceId = person.workspace.id;
    await put('hold', 1);
    const { runId } = await startRun(person);
    await jobsAreUsed();
    await rowsOf(database, `UPDATE workspaces SET lane = 'run' WHERE id = $1`, [workspaceId]);
    await rowsOf(database, `UPDATE runs SET over_limit = false WHERE id = $1`, [runId]);
    const watch = new pg.Client({ connectionString: database.adminUrl });
    await watch.connect();
    let isHeld = false;
    let hold: Promise<unknown> = Promise.resolve();
    const lease = await transaction(async (tx) => {
      const claimed = await claimDueRun(tx, { runId, owner: 'w', leaseMs: 60_000, perWorkspaceMax: 3 });
      hold = transaction((inner) => setLane(inner, { workspaceId, lane: 'hold', version: 2 })).then(
        () => (isHeld = true),
      );
      await until(async () => {
        const { rows } = await watch.query(
          `SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        );
        return rows.length > 0 || isHeld;
      });
      expect(isHeld).toBe(false);
      return claimed;
    }).finally(() => watch.end());
    await hold;
    expect([lease?.runId, await laneNow()]).toEqual([runId, { lane: 'hold', version: 2, running: 1, queued: 0 }]);
  });
});
