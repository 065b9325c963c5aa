import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { BudgetId, createClient, Instant, type Client } from '@countersign/contracts';
import {
  getRuntimeStatus,
  getSpendSummary,
  recordSpend,
  startRuntime,
  stopRuntime,
} from '@countersign/contracts/commercial-gateway';
import { bootstrapOrg } from '@countersign/contracts/control-plane';
import type { Run } from '@countersign/contracts/gateway';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { addressBook, kernelClient, signIn, type SignedIn } from './_system.ts';
import { sharedSystem, type SharedSystem } from './_shared-parts.ts';

const address = addressBook();
const basicRoutes = { bootstrapOrg, getRuntimeStatus, getSpendSummary, recordSpend, startRuntime, stopRuntime };

let system: SharedSystem;
let owner: SignedIn;
let basic: Client<typeof basicRoutes>;
let owners = 0;

beforeAll(async () => {
  system = await sharedSystem();
});
beforeEach(async () => {
  owner = await signIn(system, address(`owner-${(owners += 1)}`));
  const headers = () => ({ authorization: `Bearer ${owner.token}`, 'x-workspace-id': owner.workspaceId });
  basic = createClient(basicRoutes, { baseUrl: system.gatewayUrl, headers });
  await basic.bootstrapOrg({ body: { name: 'Basic' } });
  // The commercial gateway learns of the organisation from an event.
  await untilAnswered(() => basic.getRuntimeStatus().catch(() => null));
});

const read = (path: string) => `call:files__read_text_file ${JSON.stringify({ path })}`;

async function startTask({ client }: SignedIn, description: string): Promise<string> {
  const { body: task } = await client.createTask({ body: { title: 'A task', description } });
  await client.runTask({ params: { id: task.id } });
  return task.id;
}

async function runOf({ client }: SignedIn, taskId: string): Promise<Run> {
  const [run] = (await client.listRuns({ params: { id: taskId } })).body.data;
  if (run === undefined) throw new Error('The task has no run');
  return run;
}

const completed = (person: SignedIn, taskId: string) =>
  untilAnswered(async () => (await runOf(person, taskId)).status === 'completed');
const stopped = () => untilAnswered(async () => (await basic.getRuntimeStatus()).body.state === 'stopped');

describe('a stopped runtime', () => {
  verifies(
    'cg.lane',
    'leases no queued run and ends the running step, and after a start each run is done once',
    async () => {
      const file = join(system.filesDir, 'notes.md');
      writeFileSync(file, 'Answer the customer.\n');
      const twoCalls = `${read(file)}\nthen\n${read(file)}`;
      const tasks = [];
      for (let nth = 0; nth < 4; nth += 1) tasks.push(await startTask(owner, twoCalls));
      await basic.stopRuntime();
      await stopped();
      for (let nth = 0; nth < 2; nth += 1) tasks.push(await startTask(owner, twoCalls));
      // A run of another workspace completes in the meantime, so the workers do lease runs.
      const neighbour = await signIn(system, address('neighbour'));
      await completed(neighbour, await startTask(neighbour, 'hello'));
      const stored = await Promise.all(tasks.map((taskId) => runOf(owner, taskId)));
      expect(stored.filter(({ status }) => status !== 'queued' && status !== 'completed')).toEqual([]);
      expect(stored.slice(4).map(({ status, steps }) => [status, steps.length])).toEqual([
        ['queued', 0],
        ['queued', 0],
      ]);
      expect(stored.flatMap(({ steps }) => steps).filter(({ endedAt }) => endedAt === null)).toEqual([]);
      await basic.startRuntime();
      for (const taskId of tasks) await completed(owner, taskId);
      const outcomes = { tool: 'files.read_text_file', kind: 'outcome', limit: 200 } as const;
      const { data } = (await kernelClient(system, owner.workspaceId).listReceipts({ query: outcomes })).body;
      expect(data).toHaveLength(2 * tasks.length);
      const { body: status } = await basic.getRuntimeStatus();
      expect(status).toMatchObject({ state: 'running', running_runs: 0, queued_runs: 0 });
    },
  );
});

describe('spend that is recorded through the basic API', () => {
  verifies(
    'cg.spend',
    'is counted once per event id, even above the ceiling, and the next decision on that budget includes it',
    async () => {
      const kernel = kernelClient(system, owner.workspaceId, 'agent-1');
      const budget_id = BudgetId.parse('travel');
      const terms = { subject: 'tenant', window: 'month', spend_limit_minor: 1_000, currency: 'USD' };
      await kernelClient(system, owner.workspaceId).putBudget({ params: { budget_id }, body: terms as never }); // the rest has defaults
      const call = { action: 'tool.call', tool: 'crm.read', session_id: 'spend', effect_level: 'E1' };
      const decide = async (spend_minor: number) =>
        (await kernel.evaluate({ body: { ...call, demand: { spend_minor } } as never })).body; // the rest has defaults
      expect(await decide(600)).toMatchObject({ verdict: 'ALLOW' });
      const event = {
        ...{ event_id: 'card-17', budget_id, amount_minor: 500, currency: 'USD' },
        occurred_at: Instant.parse(new Date().toISOString()),
      };
      const answers = await Promise.all([1, 2, 3].map(() => basic.recordSpend({ body: event })));
      expect(answers.map(({ body }) => body.counted)).toEqual([true, true, true]);
      const { data } = (await basic.getSpendSummary()).body;
      const travel = data.find((budget) => budget.budget_id === budget_id);
      // The amount of the event exceeds what the open call leaves of the ceiling.
      expect((travel?.used.spend_minor ?? 0) + (travel?.reserved.spend_minor ?? 0)).toBe(1_100);
      expect(await decide(1)).toMatchObject({ verdict: 'DENY', reason_code: 'BUDGET_EXCEEDED' });
      await expect(basic.recordSpend({ body: { ...event, amount_minor: 1 } })).rejects.toMatchObject({
        code: 'IDEMPOTENCY_KEY_REUSED',
      });
    },
  );
});
