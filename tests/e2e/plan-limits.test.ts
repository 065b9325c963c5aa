import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect } from '@jest/globals';
import { createClient } from '@countersign/contracts';
import * as routes from '@countersign/contracts/routes';
import type { StartedSystem } from '@countersign/local';
import { untilAnswered } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { readText } from '../architecture/repository.ts';
import { connectorsAt, writeCatalogue } from './_catalogue.ts';
import { personAt, type Person } from './_signed-in.ts';
import { codeOf, detailsOf, type Report } from './_tab.ts';
import { inDatabase, kernelClient, scratchDataDir, startIn } from './_system.ts';

// `services/gateway/tests/database-runs.test.ts` covers the limit of concurrent runs: a run above the limit waits.

const dataDir = scratchDataDir();
const catalogue = join(dataDir.path, 'own-catalogue.json');
// The kernel reaches none of these servers. They count nevertheless.
const connectors = connectorsAt({
  one: 'http://127.0.0.1:9/one',
  two: 'http://127.0.0.1:9/two',
  three: 'http://127.0.0.1:9/three',
});
const limits = { tool_calls: 4, members: 2, workspaces: 1, connectors: 1, shadow_lanes: 1 };
let system: StartedSystem;
let founder: Person;
let orgId: string;
let people = 0;

beforeAll(async () => {
  // The file has its own system, whose free plan has limits. The shared system has no limits.
  system = await startIn(dataDir.path, {
    ...{ GOV_RATE_LIMITS: '0', GOV_BASE_PLAN: 'free' },
    ...writeCatalogue(catalogue, connectors),
  });
});
afterAll(async () => {
  await system?.stop();
  dataDir.remove();
});

const newPerson = () => personAt(system.gatewayUrl, `person-${(people += 1)}@example.org`);
const statement = (text: string, values: unknown[]) =>
  inDatabase(dataDir.path, { schema: 'commercial', statement: text, values });

beforeEach(async () => {
  founder = await newPerson();
  const headers = { authorization: `Bearer ${founder.token}`, 'x-workspace-id': founder.workspaceId };
  const owner = createClient(routes.controlPlaneRoutes, { baseUrl: system.gatewayUrl, headers: () => headers });
  orgId = (await owner.bootstrapOrg({ body: { name: 'Limited' } })).body.org_id;
  const terms = JSON.stringify({ capabilities: [], limits });
  await statement(
    `INSERT INTO entitlement_overrides VALUES ($1, $2, 'usr_1', now() - interval '1 day', now() + interval '1 day')`,
    [orgId, terms],
  );
  await applied(async () => {
    const { data } = (await kernelClient(system, founder.workspaceId).listBudgets({ query: {} })).body; // paging has defaults
    const plan = data.find(({ budget_id }) => budget_id === 'plan.tool_calls');
    return plan?.tool_call_limit === limits.tool_calls && (await areKept('gateway')) && areKept('control_plane');
  });
});

/**
 * Makes a direct database change effective. The limits of an organisation are published again when `due_at` is reached.
 */
async function applied(isInForce: () => Promise<boolean>): Promise<void> {
  await untilAnswered(async () => {
    await statement('UPDATE entitlement_states SET due_at = now() WHERE org_id = $1', [orgId]);
    return isInForce();
  });
}

/** Whether a service has stored the limits. Without a row, the statement divides by zero and fails. */
function areKept(schema: 'gateway' | 'control_plane'): Promise<boolean> {
  const text = `SELECT 1 / count(*) FROM entitlements WHERE org_id = $1 AND limits ->> 'members' = $2`;
  const read = inDatabase(dataDir.path, { schema, statement: text, values: [orgId, String(limits.members)] });
  return read.then(
    () => true,
    () => false,
  );
}

const call = { action: 'tool.call', tool: 'crm.read', session_id: 'limited', effect_level: 'E1' };
const decide = async (more: object = {}) => {
  const { body } = await kernelClient(system, founder.workspaceId, 'agent-1').evaluate({
    body: { ...call, ...more } as never,
  }); // unbranded names
  return `${body.verdict} ${body.reason_code}`;
};
const newTask = async () =>
  (await founder.client.createTask({ body: { title: 'A task', description: 'hello' } })).body.id;

describe('a plan', () => {
  verifies(
    'cg.entitlement',
    'allows the last call, member and workspace within its limit, and rejects the next, even in a race',
    async () => {
      const verdicts = await Promise.all(Array.from({ length: 50 }, () => decide()));
      expect(verdicts.filter((verdict) => verdict === 'ALLOW ALLOWED')).toHaveLength(limits.tool_calls);
      expect(new Set(verdicts)).toEqual(new Set(['ALLOW ALLOWED', 'DENY BUDGET_EXCEEDED']));

      const invited = [await newPerson(), await newPerson(), await newPerson()];
      const join = async ({ email, client }: Person) => {
        const body = { email, role: 'member' as const };
        const made = await founder.client.createInvite({ params: { id: founder.workspaceId }, body });
        const accepted = client.acceptInvite({ params: { token: made.body.inviteToken }, body: { email } });
        return accepted.then(
          () => 'joined',
          (error: { code: string }) => error.code,
        );
      };
      const joined = await Promise.all(invited.map(join));
      expect(joined.toSorted()).toEqual(['LIMIT_REACHED', 'LIMIT_REACHED', 'joined']);

      const body = { name: 'Second' };
      const second = await founder.tab.send('/api/v1/workspaces', { method: 'POST', body });
      expect(codeOf(second)).toEqual([403, 'LIMIT_REACHED']);
    },
  );

  verifies(
    'cg.entitlement',
    'allows the last connector and the last shadow lane within its limit, and rejects the next, even in a race',
    async () => {
      const headers = { 'x-workspace-id': founder.workspaceId };
      const marketplace = '/api/v1/marketplace/connectors';
      const install = (id: string) =>
        founder.tab.send(`${marketplace}/${id}/install`, { method: 'POST', headers, body: { version: '1.2.0' } });
      const outcomes = (messages: Report[]) => messages.map((each) => codeOf(each).join(' ')).toSorted();
      const installed = await Promise.all(['one', 'two', 'three'].map(install));
      expect(outcomes(installed)).toEqual(['200 ', '403 LIMIT_REACHED', '403 LIMIT_REACHED']);
      const limit = { name: 'connectors', limit: 1, used: 1 };
      const refused = installed.find(({ status }) => status === 403);
      expect(refused && detailsOf(refused)).toEqual(limit);
      const [reserved] = installed
        .filter(({ status }) => status === 200)
        .map(({ body }) => String(body['connector_id']));
      // A repeated installation does not count a second time.
      expect((await install(reserved ?? '')).status).toBe(200);
      const disable = { method: 'POST', headers, body: { reason: 'not needed' } };
      expect((await founder.tab.send(`${marketplace}/${reserved}/disable`, disable)).status).toBe(200);
      expect((await install(reserved === 'two' ? 'three' : 'two')).status).toBe(200);

      const text = readText('infra/local/policy/starter.yaml');
      const setLane = (lane: string) => {
        const path = `/api/v1/workspaces/${founder.workspaceId}/policy/shadows/${lane}`;
        return founder.tab.send(path, { method: 'PUT', headers, body: { text } });
      };
      const set = await Promise.all(['stricter', 'wider', 'other'].map(setLane));
      expect(outcomes(set)).toEqual(['200 ', '403 LIMIT_REACHED', '403 LIMIT_REACHED']);

      const view = await founder.tab.send(`/api/entitlements?org_id=${orgId}`);
      const place = { limit: 1, used: 1, remaining: 0 };
      expect(view.body['limits']).toMatchObject({ connectors: place, shadow_lanes: place });
    },
  );

  verifies(
    'cg.entitlement',
    'never limits stops, denials, verification and exports of evidence, even when the organisation is suspended',
    async () => {
      while ((await decide()) !== 'DENY BUDGET_EXCEEDED');
      const taskId = await newTask();
      await founder.client.runTask({ params: { id: taskId } });
      const suspended = `INSERT INTO org_suspensions VALUES ($1, 'unpaid', 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', now())`;
      await statement(suspended, [orgId]);
      const startedIn = async () =>
        founder.client.runTask({ params: { id: await newTask() } }).then(
          () => 'started',
          (error: { code: string }) => error.code,
        );
      await applied(async () => (await startedIn()) === 'LIMIT_REACHED');
      // A run that began before the suspension continues to its end.
      await untilAnswered(async () => {
        const [run] = (await founder.client.listRuns({ params: { id: taskId } })).body.data;
        return run !== undefined && run.endedAt !== null;
      });

      expect(await decide({ effect_level: 'E4' })).toMatch(/^DENY /);
      const target = `workspace:${founder.workspaceId}`;
      const headers = { 'x-workspace-id': founder.workspaceId };
      const body = { target, reason: 'seen' };
      const stopped = await founder.tab.send('/api/ops/freeze', { method: 'POST', headers, body });
      expect([stopped.status, stopped.body]).toMatchObject([200, { state: 'effective' }]);
      const query = { session_id: 'limited' } as never; // a plain name
      const exported = (await kernelClient(system, founder.workspaceId).exportReceipts({ query })).body;
      const text = exported.map((line) => `${JSON.stringify(line)}\n`).join('');
      const { checkExport } = routes.controlPlaneRoutes;
      const anyone = createClient({ checkExport }, { baseUrl: system.gatewayUrl });
      expect((await anyone.checkExport({ body: { export: text, expect: {} } })).body).toMatchObject({
        verdict: 'VERIFIED',
      });
      const bearer = { authorization: `Bearer ${founder.token}`, ...headers };
      const own = await fetch(new URL('/api/audit/export', system.gatewayUrl), { headers: bearer });
      expect([own.status, await own.text()]).toEqual([200, expect.stringContaining('run.enqueued')]);
    },
  );
});
