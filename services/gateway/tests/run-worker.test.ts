import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { reaching } from '@countersign/testkit/until';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import type { Context } from '../src/context.ts';
import { KernelError } from '../src/governance/kernel-error.ts';
import { advanceRun } from '../src/orchestrator/advance-run.ts';
import { changeRun } from '../src/run-moves/change-run.ts';
import { workOnRun } from '../src/orchestrator/work-on-run.ts';
import { claimRun } from '../src/store/leases.ts';
import {
  rowsOf,
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';
import { logOf, toldOf } from './_run-records.ts';

let database: TestDatabase;
let door: StartedGateway;
let context: Context;
let person: Person;
const kernel = new KernelStub();
const live = new AbortController().signal;

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  const more = { GOV_GOVERNANCE_URL: kernel.url, GOV_RUN_WORKERS: '0' };
  door = await startTestGateway(testConfig(database, more));
  context = door.context;
});
beforeEach(async () => {
  person = await signInAs(door.url, `${crypto.randomUUID()}@example.org`);
  kernel.beforeModelAnswer = async () => undefined;
  kernel.settings.beforeTaken = async () => undefined;
  kernel.modelCalls.length = 0;
  kernel.paths.length = 0;
  kernel.say = (messages) =>
    messages.some((message) => message.role === 'tool')
      ? { text: 'All done.' }
      : { calls: [{ name: 'files__write', args: { path: 'a' } }] };
});
afterAll(async () => {
  await door?.stop();
  await kernel.kill();
  await database?.drop();
});

type Lease = {
  status: string;
  owner: string | null;
  until: Date | null;
  fence: number;
  attempts: number;
  steps: number;
};

async function heldOf(runId: string): Promise<Lease> {
  const [reserved] = await rowsOf<Lease>(
    database,
    `SELECT status, lease_owner AS owner, lease_until AS until, lease_fence AS fence, attempts,
            (SELECT count(*)::int FROM run_steps WHERE run_id = runs.id) AS steps FROM runs WHERE id = $1`,
    [runId],
  );
  if (reserved === undefined) throw new Error('There is no such run');
  return reserved;
}

const withLease = (leaseMs: number): Context => ({
  ...context,
  config: { ...context.config, runs: { ...context.config.runs, leaseMs } },
});
/** Claims this run and works on it. */
const workOn = (by: Context, runId: string, stopping: AbortSignal) => {
  const { workerName: owner, leaseMs } = by.config.runs;
  return workOnRun(by, (tx) => claimRun(tx, { runId, owner, leaseMs }), stopping);
};
const claim = (runId: string) => context.transaction((tx) => claimRun(tx, { runId, owner: 'other', leaseMs: 60_000 }));
const jobsOf = async (taskId: string) =>
  (await toldOf(database, taskId)).filter(({ type }) => type === 'run.enqueued.v1').length;
/**
 * The state of a run after an orderly stop of its worker. It waits for the next worker like a run that was never
 * claimed.
 */
const givenBack = { status: 'queued', owner: null, until: null, attempts: 0 };

/** Returns a hook that stops the worker during a request to the kernel and never answers the request. */
function stopWhenAsked(): { stopping: AbortController; ask: () => Promise<void> } {
  const stopping = new AbortController();
  const ask = () => {
    stopping.abort();
    return new Promise<void>(() => undefined);
  };
  return { stopping, ask };
}

const forgetSettings = () =>
  rowsOf(database, 'DELETE FROM confirmed_settings WHERE workspace_id = $1', [person.workspace.id]);

/** Returns a waiting run whose worker stopped in its first step. The kernel has lost the settings. */
async function stoppedInStep() {
  const { stopping, ask } = stopWhenAsked();
  kernel.beforeModelAnswer = ask;
  const run = await startRun(person);
  await workOn(context, run.runId, stopping.signal);
  await forgetSettings();
  return run;
}

function kernelThat(method: 'listTools' | 'applySettings' | 'callModel', fault: Error): Context['kernel'] {
  return { ...context.kernel, [method]: () => Promise.reject(fault) } as Context['kernel'];
}

describe('a worker', () => {
  it('does not touch a run of another worker', async () => {
    const { runId } = await startRun(person);
    await claim(runId);
    await workOn(context, runId, live);
    expect(await heldOf(runId)).toMatchObject({ status: 'running', owner: 'other', fence: 1, steps: 0 });
  });

  it('lists the tools once, and does not return a completed run', async () => {
    const { taskId, runId } = await startRun(person);
    await workOn(context, runId, live);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed', result: 'All done.' });
    expect(kernel.paths.filter((path) => path === '/mcp/v1/capabilities')).toHaveLength(1);
    expect(await jobsOf(taskId)).toBe(1);
  });

  it('that stops before its first step begins none, and makes the run due again', async () => {
    await workOn(context, (await startRun(person)).runId, live); // the kernel now has the settings
    const { taskId, runId } = await startRun(person);
    await workOn(context, runId, AbortSignal.abort());
    expect(await heldOf(runId)).toMatchObject({ ...givenBack, steps: 0 });
    expect(await jobsOf(taskId)).toBe(2);
  });

  it('that stops during the delivery of settings begins no step and fails no run', async () => {
    const { stopping, ask } = stopWhenAsked();
    kernel.settings.beforeTaken = ask;
    const { runId } = await startRun(person);
    await workOn(context, runId, stopping.signal);
    expect(await heldOf(runId)).toMatchObject({ ...givenBack, steps: 0 });
  });

  it('that stops in a step leaves it to the next one, which repeats it without a second start', async () => {
    const { stopping, ask } = stopWhenAsked();
    kernel.beforeModelAnswer = ask;
    kernel.say = () => ({ text: 'done' });
    const { taskId, runId } = await startRun(person);
    await workOn(context, runId, stopping.signal);
    expect(await heldOf(runId)).toMatchObject({ ...givenBack, steps: 1 });
    // The kernel needs the settings again. A stop during their delivery also changes nothing.
    await forgetSettings();
    const again = stopWhenAsked();
    kernel.settings.beforeTaken = again.ask;
    await workOn(context, runId, again.stopping.signal);
    expect(await heldOf(runId)).toMatchObject({ ...givenBack, steps: 1, fence: 2 });
    expect(kernel.modelCalls).toHaveLength(1);
    expect((await logOf(person)).map(({ action }) => action)).toEqual(['run.enqueued', 'run.running']);
    expect(await jobsOf(taskId)).toBe(3);
  });

  it('that cannot deliver the settings reports that an open step may have been executed', async () => {
    const { taskId, runId } = await stoppedInStep();
    const away = new KernelError('unreachable', 'GOVERNANCE_UNAVAILABLE', 'The kernel did not answer');
    await workOn({ ...context, kernel: kernelThat('applySettings', away) }, runId, live);
    const { status, outcome, error, steps } = await runReaching(person, taskId);
    expect([status, outcome]).toEqual(['failed', 'unreachable/degraded']);
    expect(error).toEqual({ code: away.code, message: `${away.message}. The call may have been made.` });
    expect(steps.map((step) => step.error)).toEqual([error]);
  });

  it('returns a run whose call failed while the clock of the gateway is wrong', async () => {
    const looks = [true]; // the clock is near when the worker begins, and far off later
    const clockGuard = { isNear: async () => looks.pop() ?? false } as Context['clockGuard']; // no other member is used
    const refused = new KernelError('unreachable', 'GOVERNANCE_MALFORMED', 'The kernel answered 401');
    const { taskId, runId } = await startRun(person);
    await workOn({ ...context, clockGuard, kernel: kernelThat('callModel', refused) }, runId, live);
    expect(await heldOf(runId)).toMatchObject({ ...givenBack, steps: 1 });
    await workOn(context, runId, live);
    expect(await runReaching(person, taskId)).toMatchObject({ status: 'completed' });
  });

  it('without a kernel fails the run closed', async () => {
    const { taskId, runId } = await startRun(person);
    await workOn({ ...context, kernel: null }, runId, live);
    const error = { code: 'GOVERNANCE_NOT_CONFIGURED', message: expect.any(String) };
    const failed = { status: 'failed', outcome: 'unreachable/degraded', error, steps: [] };
    expect(await runReaching(person, taskId)).toMatchObject(failed);
  });
});

describe('a lease', () => {
  it('is renewed during a long step, and not after the run', async () => {
    const { runId } = await startRun(person);
    const untilOf = async () => Number((await heldOf(runId)).until);
    const claimed: unknown[] = [];
    kernel.say = () => ({ text: 'done' });
    kernel.beforeModelAnswer = async () => {
      const first = await untilOf();
      await reaching(untilOf, (renewed) => renewed >= first + leaseMs);
      // The first lease has expired. Without a renewal another worker could claim the run.
      claimed.push(await claim(runId));
    };
    const leaseMs = 300;
    let transactions = 0;
    const { transaction } = context.database;
    const counting: typeof transaction = (work) => {
      transactions += 1;
      return transaction(work);
    };
    await workOn({ ...withLease(leaseMs), database: { ...context.database, transaction: counting } }, runId, live);
    expect([claimed, (await heldOf(runId)).status]).toEqual([[null], 'completed']);
    const before = transactions;
    await delay(leaseMs); // long enough for three renewals
    expect(transactions).toBe(before);
  });

  it('that is lost stops the worker at once, without a change of the run', async () => {
    const { runId } = await startRun(person);
    kernel.beforeModelAnswer = async () => {
      await rowsOf(database, "UPDATE runs SET lease_fence = 7, lease_owner = 'other' WHERE id = $1", [runId]);
      return new Promise(() => undefined);
    };
    await workOn(withLease(600), runId, live);
    expect(await heldOf(runId)).toMatchObject({ status: 'running', owner: 'other', fence: 7, steps: 1 });
  });
});

describe('a fault of the gateway', () => {
  const fault = new TypeError('undefined is not a function');
  const fails = (method: Parameters<typeof kernelThat>[0], runId: string) =>
    expect(workOn({ ...context, kernel: kernelThat(method, fault) }, runId, live)).rejects.toBe(fault);

  it.each([
    ['listTools', 0],
    ['applySettings', 0],
    ['callModel', 1],
  ] as const)('in %s does not count as an answer of the kernel, and fails no run', async (method, steps) => {
    const { runId } = await startRun(person);
    await fails(method, runId);
    expect(await heldOf(runId)).toMatchObject({ status: 'running', steps });
  });

  it('before a step is repeated leaves the step unchanged', async () => {
    const { taskId, runId } = await stoppedInStep();
    await fails('applySettings', runId);
    expect((await runReaching(person, taskId, ['running'])).steps).toMatchObject([{ endedAt: null, error: null }]);
  });
});

describe('a run that another worker took in the meantime', () => {
  const loseIt = (runId: string) =>
    rowsOf(database, "UPDATE runs SET lease_fence = 7, lease_owner = 'other' WHERE id = $1", [runId]);
  const traceOf = async (runId: string) => [await heldOf(runId), (await logOf(person)).length];
  /** Claims a run and makes `moves` moves. A test then loses the lease just before the next move is stored. */
  async function movedBy(moves: number) {
    const { taskId, runId } = await startRun(person);
    const lease = await claim(runId);
    if (lease === null) throw new Error('No worker could claim the run');
    const hold = { signal: live, settled: [], listTools: () => kernelOf(context).listTools(lease, live) };
    for (let made = 0; made < moves; made += 1) expect(await advanceRun(context, lease, hold)).toBe('moved');
    return { taskId, runId, lease, hold };
  }
  const kernelOf = (of: Context) => {
    if (of.kernel === null) throw new Error('There is no kernel');
    return of.kernel;
  };
  const losing = (runId: string): Context => ({
    ...context,
    transaction: async (work) => {
      await loseIt(runId);
      return context.transaction(work);
    },
  });

  it.each([
    ['a tool call', 1, { path: 'a' }],
    ['the refusal of a tool call', 1, []],
    ['the next model call', 2, { path: 'a' }],
    ['its end', 3, { path: 'a' }],
  ])('is not changed by %s', async (_what, moves, args) => {
    kernel.say = (messages) =>
      messages.some((message) => message.role === 'tool')
        ? { text: 'All done.' }
        : { calls: [{ name: 'files__write', args }] };
    const { runId, lease, hold } = await movedBy(moves);
    expect(hold.settled).toHaveLength(moves - 1);
    const [before, entries] = await traceOf(runId);
    await advanceRun(losing(runId), lease, hold);
    expect(await traceOf(runId)).toEqual([{ ...(before as Lease), fence: 7, owner: 'other' }, entries]);
    expect(await advanceRun(context, lease, hold)).toBe('left');
  });

  it('is not shown as started by the slower worker', async () => {
    const { runId } = await startRun(person);
    await workOn(losing(runId), runId, live);
    expect((await logOf(person)).map(({ action }) => action)).toEqual(['run.enqueued']);
  });

  it('is not settled by the slower worker', async () => {
    const { taskId, runId, lease, hold } = await movedBy(0);
    kernel.beforeModelAnswer = async () => void (await loseIt(runId));
    expect(await advanceRun(context, lease, hold)).toBe('left');
    expect((await runReaching(person, taskId, ['running'])).steps).toMatchObject([{ endedAt: null }]);
  });

  it('is not failed by the slower worker', async () => {
    const { runId, lease, hold } = await movedBy(0);
    const applySettings = async () => {
      await loseIt(runId);
      throw new KernelError('unreachable', 'GOVERNANCE_UNAVAILABLE', 'The kernel did not answer');
    };
    const away = { ...context, kernel: { ...kernelOf(context), applySettings } };
    expect(await advanceRun(away, lease, hold)).toBe('left');
    expect(await heldOf(runId)).toMatchObject({ status: 'running', owner: 'other', steps: 0 });
  });

  it('is unchanged once it has ended, and no event is published', async () => {
    const { taskId, runId } = await startRun(person);
    await workOn(context, runId, live);
    const before = [await traceOf(runId), await toldOf(database, taskId)];
    const place = { workspaceId: person.workspace.id, taskId, runId };
    const change = { from: ['running'], to: 'failed', outcome: null, actor: 'somebody' } as const;
    expect(await context.transaction((tx) => changeRun(tx, context, place, change))).toBe(false);
    expect([await traceOf(runId), await toldOf(database, taskId)]).toEqual(before);
  });
});
