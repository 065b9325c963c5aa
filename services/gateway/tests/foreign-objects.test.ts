import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import { verifies } from '@countersign/testkit/verifies';
import type { StartedGateway } from '../src/index.ts';
import { isReceiptOfOtherStep } from '../src/store/receipts.ts';
import { listRunsOf } from '../src/store/runs.ts';
import {
  runReaching,
  signInAs,
  startRun,
  startTestGateway,
  testConfig,
  testDatabase,
  type Person,
} from './_gateway.ts';
import { KernelStub } from './_kernel-stub.ts';

let database: TestDatabase;
let gateway: StartedGateway;
let ada: Person;
let eve: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' }));
  ada = await signInAs(gateway.url, 'ada@example.org');
  eve = await signInAs(gateway.url, 'eve@example.org');
  kernel.judgesAnswers = false;
  kernel.say = () => ({ calls: [{ name: 'files__write', args: { path: 'a' } }] });
});

afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

/** Creates every kind of object in Ada's workspace, with a denied run and a run that waits for an approval. */
async function adasThings() {
  kernel.verdictOf = () => 'DENY';
  const denied = await startRun(ada);
  await runReaching(ada, denied.taskId);
  kernel.verdictOf = () => 'ESCALATE';
  const { taskId, runId } = await startRun(ada);
  const run = await runReaching(ada, taskId, ['awaiting_approval']);
  const [approval] = (await ada.client.listWorkspaceApprovals()).body.data;
  return { taskId, runId, approvalId: approval?.id ?? '', decisionId: run.steps[0]?.decisionId ?? '' };
}

/** Returns everything that a person can list in their workspace, as text. */
async function listedTo({ client }: Person): Promise<Record<string, string>> {
  const lists = {
    tasks: client.listTasks(),
    audit: client.listAudit(),
    approvals: client.listWorkspaceApprovals(),
    violations: client.listViolations(),
    receipts: client.listGovernanceReceipts(),
  };
  const read = Object.entries(lists).map(async ([name, list]) => [name, JSON.stringify((await list).body)] as const);
  return Object.fromEntries(await Promise.all(read));
}

describe("the objects of another workspace's agent", () => {
  verifies('gw.tenancy.404', 'are not found by their ids, cannot be resolved, and are in no list', async () => {
    const { taskId, runId, approvalId, decisionId } = await adasThings();
    const { client } = eve;
    const attempts = [
      client.listRuns({ params: { id: taskId } }),
      client.startRun({ body: { taskId } }),
      client.getGovernanceReceipt({ params: { decisionId } }),
      client.resolveWorkspaceApproval({ params: { id: approvalId }, body: { status: 'approved' } }),
    ];
    for (const attempt of attempts) await expect(attempt).rejects.toMatchObject({ code: 'NOT_FOUND', status: 404 });
    expect(kernel.approvals.votes).toEqual([]);

    const [adas, eves] = [await listedTo(ada), await listedTo(eve)];
    for (const [name, text] of Object.entries(adas)) {
      expect([name, text.includes(`"workspaceId":"${ada.workspace.id}"`) || text.includes(decisionId)]).toEqual([
        name,
        true,
      ]);
      expect([name, eves[name]?.includes(ada.workspace.id), eves[name]?.includes(decisionId)]).toEqual([
        name,
        false,
        false,
      ]);
    }
    const runsOf = async ({ client: of }: Person) => (await of.listWorkspaceRuns()).body.data.map(({ id }) => id);
    expect([await runsOf(ada), await runsOf(eve)]).toEqual([expect.arrayContaining([runId]), []]);
    expect((await ada.client.getGovernanceReceipt({ params: { decisionId } })).body).toMatchObject({ decisionId });

    const { transaction } = gateway.context;
    const seenFrom = ({ workspace: { id: workspaceId } }: Person) =>
      transaction(async (tx) => [
        (await listRunsOf(tx, { workspaceId, taskId }, { limit: 10 })).data.length,
        await isReceiptOfOtherStep(tx, { workspaceId, decisionId, stepId: 'stp_another' }),
      ]);
    expect([await seenFrom(ada), await seenFrom(eve)]).toEqual([
      [1, true],
      [0, false],
    ]);
  });
});
