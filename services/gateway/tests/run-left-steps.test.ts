import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { agentOf } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import type { Context } from '../src/context.ts';
import { KernelError } from '../src/governance/kernel-error.ts';
import { endLeftSteps } from '../src/orchestrator/end-left-steps.ts';
import { putSettingsThrough } from '../src/settings/put-settings-through.ts';
import { findConfirmedVersion } from '../src/store/confirmed-settings.ts';
import { getSettings } from '../src/store/workspaces.ts';
import { rowsOf, signInAs, startRun, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';
import { logOf } from './_run-records.ts';

let database: TestDatabase;
let door: StartedGateway;
let context: Context;
let person: Person;

beforeAll(async () => {
  database = await testDatabase();
  door = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
  context = door.context;
});
beforeEach(async () => {
  person = await signInAs(door.url, `${crypto.randomUUID()}@example.org`);
});
afterAll(async () => {
  await door?.stop();
  await database?.drop();
});

const cancel = (taskId: string) =>
  person.client.putTaskStatus({ params: { id: taskId }, body: { status: 'cancelled' } });

/**
 * Creates cancelled runs whose workers left a step open. The runs are inserted without an end, and their end is set
 * last, so that twins are not affected.
 */
async function leftRuns(count: number, kind = 'model_call') {
  const run = await startRun(person);
  await cancel(run.taskId);
  await rowsOf(
    database,
    `INSERT INTO runs SELECT (jsonb_populate_record(runs, jsonb_build_object('id', 'run_' || upper(left(md5(id || nr), 26)), 'ended_at', null))).*
       FROM runs, generate_series(2, $2::int) AS nr WHERE id = $1`,
    [run.runId, count],
  );
  await rowsOf(
    database,
    `INSERT INTO run_steps (id, workspace_id, run_id, seq, kind, state, tool, args, started_at)
     SELECT 'stp_' || upper(left(md5(id), 26)), workspace_id, id, 1, $2::text, 'submitted',
            CASE WHEN $2 = 'tool_call' THEN 'files.write' END, '{}', now()
       FROM runs WHERE task_id = $1`,
    [run.taskId, kind],
  );
  await rowsOf(database, 'UPDATE runs SET ended_at = now() WHERE task_id = $1', [run.taskId]);
  return run;
}

const openSteps = async () => {
  const open = "SELECT count(*)::int AS open FROM run_steps WHERE state = 'submitted' AND workspace_id = $1";
  return (await rowsOf<{ open: number }>(database, open, [person.workspace.id]))[0]?.open;
};

describe('a step that an ended run left open', () => {
  it.each([
    ['model_call', null, 1],
    ['tool_call', 'files.write', 0],
  ])('is ended and logged when it is a %s', async (kind, tool, iterationsUsed) => {
    const { taskId, runId } = await leftRuns(1, kind);
    await endLeftSteps(context);
    const [step] = await rowsOf<{ id: string }>(
      database,
      `SELECT id, state, output, verdict, error_code AS code, error_message AS message, ended_at IS NOT NULL AS ended
         FROM run_steps WHERE run_id = $1`,
      [runId],
    );
    const message = 'The run ended before this call was answered. It may have been made.';
    const ended = { state: 'settled', output: null, verdict: null, code: 'RUN_ENDED', message, ended: true };
    expect(step).toEqual({ id: step?.id, ...ended });
    const { body } = await person.client.listRuns({ params: { id: taskId } });
    expect(body.data).toMatchObject([{ iterationsUsed, tokensIn: 0, tokensOut: 0, costMinor: 0 }]);
    expect((await logOf(person)).at(-1)).toEqual({
      ...{ action: `step.${kind}`, actor: agentOf(person.workspace.id), verdict: 'fail', reason: 'RUN_ENDED' },
      ...{ subject: step?.id, isAsked: false, details: { runId, tool, decisionId: null, receiptId: null } },
    });
  });

  it('is ended in sweeps of at most 50', async () => {
    await leftRuns(51);
    await endLeftSteps(context);
    expect(await openSteps()).toBe(1);
    await endLeftSteps(context);
    expect(await openSteps()).toBe(0);
  });
});

describe('delivered settings', () => {
  const { signal } = new AbortController();
  const refused = new KernelError('unreachable', 'SETTINGS_REFUSED', 'The version must rise');
  const away = new KernelError('unreachable', 'GOVERNANCE_UNAVAILABLE', 'The kernel did not answer');
  const change = () =>
    person.client.putWorkspaceSettings({
      params: { id: person.workspace.id },
      body: { policyConfig: { maxIterationBudget: 5, blockedTools: [], deniedCall: 'end' } },
    });

  /**
   * Delivers the current settings to a kernel with this answer. Returns the requests, the result and the confirmed
   * version.
   */
  async function putThrough(answer: () => Promise<unknown>) {
    const workspaceId = person.workspace.id;
    const { settings, version: settingsVersion } = await getSettings(context.database.reader, workspaceId);
    const requests: unknown[] = [];
    const kernel = {
      applySettings: (...values: unknown[]) => {
        requests.push(values);
        return answer();
      },
    };
    const loaded = { settings, settingsVersion };
    const put = () => putSettingsThrough({ ...context, kernel } as never, { workspaceId }, loaded, signal);
    const ended = await put().then(
      () => 'done',
      (error: unknown) => error,
    );
    const confirmed = await findConfirmedVersion(context.database.reader, workspaceId);
    return {
      asked: requests,
      applied: { workspaceId, version: settingsVersion, settings, isFirst: true },
      ended,
      confirmed,
      put,
    };
  }

  it('are remembered as confirmed, and not delivered again', async () => {
    const { asked, applied, ended, confirmed, put } = await putThrough(async () => undefined);
    expect({ asked, ended, confirmed }).toEqual({ asked: [[applied, signal]], ended: 'done', confirmed: 1 });
    await put();
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['because the kernel and the gateway have newer ones', refused, true, 'done'],
    ['because the kernel has newer ones that the gateway does not know', refused, false, refused],
    ['because the kernel is unavailable while they change', away, true, away],
  ])('are not confirmed when the kernel does not accept them %s', async (_why, fault, isChanged, expected) => {
    const { ended, confirmed } = await putThrough(async () => {
      if (isChanged) await change();
      throw fault;
    });
    expect([ended, confirmed]).toEqual([expected, 0]);
  });
});
