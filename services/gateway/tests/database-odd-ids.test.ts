import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestDatabase } from '@countersign/database/testing';
import type { StartedGateway } from '../src/index.ts';
import { endApiKey, shortenApiKey } from '../src/store/api-keys.ts';
import { findApproval } from '../src/store/approvals.ts';
import type { Tx } from '../src/store/database.ts';
import { endInvite } from '../src/store/invites.ts';
import { findReport } from '../src/store/reports.ts';
import { findRun } from '../src/store/runs.ts';
import { isLiveFamilyOf } from '../src/store/sessions.ts';
import { findTask, lockTask } from '../src/store/tasks.ts';
import { startTestGateway, testConfig, testDatabase } from './_gateway.ts';

let database: TestDatabase;
let gateway: StartedGateway;

beforeAll(async () => {
  database = await testDatabase();
  gateway = await startTestGateway(testConfig(database, { GOV_RUN_WORKERS: '0' }));
});

afterAll(async () => {
  await gateway?.stop();
  await database?.drop();
});

const now = new Date('2026-03-01T12:00:00.000Z');
const workspaceId = `wsp_${'0'.repeat(26)}`;
const reach = { workspaceId, userId: null };

const lookUps: [string, null | false, (tx: Tx, id: string) => Promise<unknown>][] = [
  ['a task', null, (tx, id) => findTask(tx, workspaceId, id)],
  ['a task to lock', null, (tx, id) => lockTask(tx, workspaceId, id)],
  ['a run', null, (tx, id) => findRun(tx, workspaceId, id)],
  ['an approval', null, (tx, id) => findApproval(tx, workspaceId, id)],
  ['a failed call', null, (tx, requestId) => findReport(tx, { ...reach, personId: null, requestId })],
  ['a key to end', false, (tx, id) => endApiKey(tx, reach, id, now)],
  ['a key with a new end', false, (tx, keyId) => shortenApiKey(tx, reach, { keyId, latest: now, now })],
  ['an invite', false, (tx, id) => endInvite(tx, workspaceId, id, now)],
  ['a sign-in', false, (tx, familyId) => isLiveFamilyOf(tx, { userId: 'usr', familyId, now })],
];

describe('an id that PostgreSQL cannot store', () => {
  it.each(lookUps)('does not find %s', async (_what, answer, look) => {
    const { transaction } = gateway.context.database;
    expect(await transaction((tx) => look(tx, 'tsk_\u0000'))).toBe(answer);
    expect(await transaction((tx) => look(tx, ''))).toBe(answer);
  });
});
