import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WorkspaceId, type UserId } from '@countersign/contracts';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { newWhatIfId } from '../src/ids.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';
import { findJob, insertJob } from '../src/store/what-if-jobs.ts';
import { reports, workOnNext } from '../src/workers/reporter.ts';

const workspaceId = WorkspaceId.parse(`wsp_${'0'.repeat(26)}`);
const secondMs = 1_000;
let scratch: TestDatabase;
let database: ControlPlaneDatabase;
let nowMs = Date.parse('2026-01-01T00:00:00Z');

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  database = openControlPlaneDatabase(scratch.url);
});

afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

/** Runs one pass of a reporter with an unreachable kernel, and returns its error. */
async function pass(): Promise<unknown> {
  const keyRing = { keys: () => Promise.reject(new Error('away')) };
  const context = { transaction: database.transaction, now: () => new Date(nowMs), keyRing };
  const passing = workOnNext(context as never, reports, () => false); // no other member is read
  return passing.then(
    () => 'nothing is due',
    (error: unknown) => (error as { code?: string }).code,
  );
}

async function newJob() {
  const id = newWhatIfId();
  const job = { id, workspaceId, policyHash: `sha256:${'0'.repeat(64)}`, bundle: '{}', from: null, to: null };
  const request = { decisionsMax: 10, askedBy: 'usr_a' as UserId, holdsDraft: false, createdAt: new Date(nowMs) }; // any name
  await database.transaction((tx) => insertJob(tx, { ...job, ...request }));
  return () => findJob(database.reader, workspaceId, id);
}

it('a report waits for an unreachable kernel, and fails after a time limit', async () => {
  const job = await newJob();
  expect([await pass(), await pass()]).toEqual(['GOVERNANCE_UNAVAILABLE', 'nothing is due']);
  expect(await job()).toMatchObject({ state: 'running', failure: null });
  nowMs += 3 * secondMs;
  expect(await pass()).toBe('GOVERNANCE_UNAVAILABLE');
  expect(await job()).toMatchObject({ state: 'running', failure: null });
  nowMs += 1_200 * secondMs;
  expect(await pass()).toBe('GOVERNANCE_UNAVAILABLE');
  expect(await job()).toMatchObject({ state: 'failed', failure: expect.stringContaining('could not be read') });
});
