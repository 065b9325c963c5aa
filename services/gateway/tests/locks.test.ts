import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { isAppError } from '@countersign/contracts';
import type { TestDatabase } from '@countersign/database/testing';
import { interleaved } from '@countersign/testkit/interleaved';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import type { StartedGateway } from '../src/index.ts';
import { claimRun, lockLeasedRun } from '../src/store/leases.ts';
import { rowsOf, signInAs, startRun, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
let holder: pg.Client;
beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
  person = await signInAs(gateway.url, 'ada@example.org');
  holder = new pg.Client({ connectionString: database.adminUrl, options: '-c search_path=gateway' });
  await holder.connect();
});
beforeEach(async () => {
  await holder.query('ROLLBACK');
});
afterAll(async () => {
  await holder?.end();
  await gateway?.stop();
  await database?.drop();
});

/** Counts the statements of the service that wait for a lock. */
async function waiting(): Promise<number> {
  const [row] = await rowsOf<{ count: number }>(
    database,
    `SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database() AND usename = $1 AND wait_event_type = 'Lock'`,
    [database.role],
  );
  return row?.count ?? 0;
}

/** Runs calls concurrently and returns their results. No call writes its audit entry before all calls have begun. */
async function ends(...calls: (() => Promise<unknown>)[]): Promise<string[]> {
  const hold = `SELECT FROM audit_heads WHERE workspace_id = '${person.workspace.id}' FOR UPDATE`;
  const ended = await interleaved({ holder, role: database.role, hold }, ...calls);
  return ended.map((end) => (end.status === 'fulfilled' ? 'done' : codeOf(end.reason)));
}

function codeOf(error: unknown): string {
  return isAppError(error) ? error.code : String(error);
}

describe('two concurrent callers', () => {
  verifies('gw.settings', 'that replace the same settings: one gets a conflict', async () => {
    const params = { id: person.workspace.id };
    const { headers: read } = await person.client.getWorkspaceSettings({ params });
    const headers = { 'if-match': read.get('etag') ?? '' };
    const put = (maxIterationBudget: number) => () =>
      person.client.putWorkspaceSettings({ params, headers, body: { policyConfig: { maxIterationBudget } } as never });
    expect(await ends(put(3), put(4))).toEqual(['done', 'PRECONDITION_FAILED']);
    const { body } = await person.client.getWorkspaceSettings({ params });
    expect(body.policyConfig.maxIterationBudget).toBe(3);
  });

  verifies('gw.task.moves', 'that run and cancel a task: no cancelled task has a live run', async () => {
    const { body: task } = await person.client.createTask({ body: { title: 'Both', description: '' } });
    const params = { id: task.id };
    const run = () => person.client.runTask({ params });
    const cancel = () => person.client.putTaskStatus({ params, body: { status: 'cancelled' } });
    expect(await ends(run, cancel)).toEqual(['done', 'done']);
    const [found] = (await person.client.listTasks({ query: { status: 'cancelled' } })).body.data;
    const runs = (await person.client.listRuns({ params })).body.data.map(({ status }) => status);
    expect([found?.id, runs]).toEqual([task.id, ['cancelled']]);
  });

  verifies('gw.audit', 'that write to one audit chain: each entry has its own place', async () => {
    const create = (title: string) => () => person.client.createTask({ body: { title, description: '' } });
    expect(await ends(create('one'), create('two'), create('three'))).toEqual(['done', 'done', 'done']);
  });

  verifies(
    'gw.run.crash',
    'that settle a step and claim its run: the claim waits until the step is stored',
    async () => {
      const { runId } = await startRun(person);
      const { transaction } = gateway.context;
      const claim = (owner: string) => transaction((tx) => claimRun(tx, { runId, owner, leaseMs: 0 }));
      const lease = await claim('slow');
      if (lease === null) throw new Error('no worker could claim the run');
      const order: string[] = [];
      let claimed: Promise<unknown> = Promise.resolve();
      await transaction(async (tx) => {
        expect(await lockLeasedRun(tx, lease)).toBe(true);
        claimed = claim('quick').then((taken) => order.push(`claimed ${taken?.fence}`));
        await until(async () => order.length > 0 || (await waiting()) === 1);
        order.push('written');
      });
      await claimed;
      expect(order).toEqual(['written', 'claimed 2']);
      expect(await transaction((tx) => lockLeasedRun(tx, lease))).toBe(false);
    },
  );
});
