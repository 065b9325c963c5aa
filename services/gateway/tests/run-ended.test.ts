import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
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

let database: TestDatabase;
let gateway: StartedGateway;
let person: Person;
const kernel = new KernelStub();

beforeAll(async () => {
  database = await testDatabase();
  await kernel.start();
  gateway = await startTestGateway(testConfig(database, { GOV_GOVERNANCE_URL: kernel.url, GOV_FAIL_CLOSED: '1' }));
  person = await signInAs(gateway.url, 'ada@example.org');
});
afterAll(async () => {
  await gateway?.stop();
  await kernel.kill();
  await database?.drop();
});

/** Returns the evidence and the events of the end of a run. */
async function endOf(runId: string) {
  const evidence = await rowsOf<{ metadata: object }>(
    database,
    "SELECT metadata FROM evidence_items WHERE run_id = $1 AND kind = 'run_ended'",
    [runId],
  );
  const events = await rowsOf<{ envelope: string }>(
    database,
    "SELECT envelope FROM outbox WHERE type = 'run.ended.v1' AND envelope LIKE '%' || $1 || '%'",
    [runId],
  );
  const messages = events.map(
    ({ envelope }) => (JSON.parse(envelope) as { data: { runId: string; status: string } }).data,
  );
  return { evidence: evidence.map(({ metadata }) => metadata), told: messages };
}

it('a run that ends leaves its evidence and its event once, however it ends', async () => {
  const ways = [
    { verdict: 'ALLOW', status: 'completed', outcome: 'allow', errorCode: null },
    { verdict: 'DENY', status: 'denied', outcome: 'deny', errorCode: expect.any(String) },
  ] as const;
  for (const { verdict, status, outcome, errorCode } of ways) {
    kernel.modelVerdict = verdict;
    const { taskId, runId } = await startRun(person);
    await runReaching(person, taskId, [status]);
    const { evidence, told } = await endOf(runId);
    expect([status, evidence]).toEqual([status, [{ status, outcome, errorCode }]]);
    expect(told).toEqual([expect.objectContaining({ workspaceId: person.workspace.id, taskId, runId, status })]);
  }
});
