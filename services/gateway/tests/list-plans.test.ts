import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AnyRoute } from '@countersign/contracts';
import { gatewayRoutes } from '@countersign/contracts/routes';
import {
  explainStatements,
  findGrowingReads,
  recordPlans,
  type PlanRecorder,
  type TestDatabase,
} from '@countersign/database/testing';
import { z } from 'zod';
import type { StartedGateway } from '../src/index.ts';
import { findLane } from '../src/store/lanes.ts';
import { sweep } from '../src/workers/sweep.ts';
import {
  fillHistory,
  filledApproval,
  filledDecision,
  filledRun,
  filledTask,
  instantOf,
  rare,
  rows,
} from './_filled.ts';
import { rowsOf, signInAs, startTestGateway, testConfig, testDatabase, type Person } from './_gateway.ts';

/** Limits for one page, far below the size of the histories. */
const bound = { rows: 2_500, pages: 2_500 };

let database: TestDatabase;
let gateway: StartedGateway;
let recorder: PlanRecorder;
let ada: Person;

beforeAll(async () => {
  database = await testDatabase({ twins: false });
  const config = testConfig(database, { GOV_RUN_WORKERS: '0' });
  gateway = await startTestGateway(config);
  ada = await signInAs(gateway.url, 'ada@example.org');
  await gateway.stop();
  await fillHistory(database, ada);
  await explainStatements(database);
  gateway = await startTestGateway(config);
  recorder = recordPlans(gateway.context.database.pool);
  ada = await signInAs(gateway.url, 'ada@example.org');
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

type Input = { params?: object; query?: Record<string, unknown> };

/** Rare and common values for each filter. */
const values: Record<string, Record<string, unknown[]>> = {
  listTasks: { status: ['failed', 'completed', 'running'] },
  listWorkspaceRuns: { status: ['denied', 'completed', 'running'] },
  listAudit: {
    action: [rare.action, 'task.created'],
    actor: [rare.actor, 'user:ada'],
    verdict: [rare.verdict, 'allow'],
    from: [instantOf(50), instantOf(rows - 1_000)],
    to: [instantOf(500), instantOf(900_000)],
  },
  listReports: {
    status: [404, 400],
    from: [instantOf(50), instantOf(rows - 1_000)],
    to: [instantOf(500), instantOf(900_000)],
    taskId: [filledTask],
  },
  listDeliveries: { subscriptionId: ['sub_01ARZ3NDEKTSV4RRFFQ69G5FAV'] },
  listWorkspaceApprovals: { status: ['rejected', 'pending', 'approved', 'cancelled'] },
};
const params: Record<string, object> = {
  listRuns: { id: filledTask },
  getTask: { id: filledTask },
  getRun: { runId: filledRun },
  getWorkspaceApproval: { id: filledApproval },
  getReport: { requestId: 'filled-call' },
  getGovernanceReceipt: { decisionId: filledDecision },
};

const routes = Object.entries(gatewayRoutes) as [string, AnyRoute][]; // each route has its own types
/** Streams are excluded, because they do not end. They read the same rows as the export. */
const gets = routes.filter(([, { method, media }]) => method === 'GET' && media !== 'event-stream');
const filtersOf = ({ query }: AnyRoute) =>
  query instanceof z.ZodObject ? Object.keys(query.shape).filter((name) => !apart.includes(name)) : [];
const apart = ['workspaceId', 'limit', 'cursor'];

/** Returns queries with every filter and value, and with every pair of filters. */
function queriesOf(name: string, route: AnyRoute): Record<string, unknown>[] {
  const existing = values[name] ?? {};
  const filters = filtersOf(route);
  const single = filters.flatMap((filter) => (existing[filter] ?? []).map((value) => ({ [filter]: value })));
  const pairs = filters.flatMap((filter, at) =>
    filters
      .slice(at + 1)
      .map((candidate) => ({ [filter]: existing[filter]?.[0], [candidate]: existing[candidate]?.[0] })),
  );
  return [{}, ...single, ...pairs];
}

async function ask(name: string, input: Input): Promise<{ nextCursor?: string | null }> {
  const call = Reflect.get(ada.client, name) as (input: Input) => Promise<{ body: object }>; // every member is a call
  return (await call({ ...input, params: params[name] ?? { id: ada.workspace.id } })).body;
}

async function expectFlat(work: () => Promise<unknown>): Promise<void> {
  const plans = await recorder.during(work);
  expect(plans.length).toBeGreaterThan(0);
  expect(await findGrowingReads(database, plans, bound)).toEqual([]);
}

describe('on a long history', () => {
  it.each(gets.filter(([, { auth }]) => auth !== 'public' && auth !== 'service_internal'))(
    '%s reads no more rows than its page for every query',
    async (name, route) => {
      expect(filtersOf(route).filter((filter) => values[name]?.[filter] === undefined)).toEqual([]);
      await expectFlat(async () => {
        for (const query of queriesOf(name, route)) {
          const { nextCursor } = await ask(name, { query });
          if (nextCursor) await ask(name, { query: { ...query, cursor: nextCursor } });
        }
      });
    },
  );

  it('counting the runs of a lane reads only the runs that are shown', () =>
    expectFlat(() => findLane(gateway.context.database.reader, ada.workspace.id)));

  it('signing in, inviting, creating, running and sweeping read only their own rows', async () => {
    await expectFlat(async () => {
      const { client } = await signInAs(gateway.url, 'ada@example.org');
      const { body: invite } = await client.createInvite({
        params: { id: ada.workspace.id },
        body: { email: 'guest@example.org', role: 'member' },
      });
      await client
        .acceptInvite({ params: { token: invite.inviteToken }, body: { email: 'ada@example.org' } })
        .catch(() => null);
      expect((await client.listInvitesToMe()).body.data).toEqual([]);
      const { body } = await client.createTask({ body: { title: 'New', description: '' } });
      await client.putTaskStatus({ params: { id: body.id }, body: { status: 'queued' } });
      await sweep(gateway.context);
      await client.endSession({});
    });
  });

  it('a missing index of a filter is detected', async () => {
    const name = 'audit_entries_workspace_id_actor_seq_idx';
    const [index] = await rowsOf<{ indexdef: string }>(
      database,
      'SELECT indexdef FROM pg_indexes WHERE indexname = $1',
      [name],
    );
    await rowsOf(database, `DROP INDEX ${name}`);
    const plans = await recorder.during(() => ask('listAudit', { query: { actor: rare.actor } }));
    await rowsOf(database, index?.indexdef ?? '');
    expect(await findGrowingReads(database, plans, bound)).not.toEqual([]);
  });
});
