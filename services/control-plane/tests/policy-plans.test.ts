import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Digest, UserId, WorkspaceId } from '@countersign/contracts';
import { LaneName } from '@countersign/contracts/governance-kernel';
import {
  createTestDatabase,
  explainStatements,
  findGrowingReads,
  recordPlans,
  type PlanRecorder,
  type TestDatabase,
} from '@countersign/database/testing';
import pg from 'pg';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';
import * as activations from '../src/store/policy-activations.ts';
import * as drafts from '../src/store/policy-drafts.ts';
import * as hours from '../src/store/shadow-hours.ts';
import * as lanes from '../src/store/shadow-lanes.ts';
import * as jobs from '../src/store/what-if-jobs.ts';

const rows = 20_000;
const now = new Date();
const workspaceId = WorkspaceId.parse(`wsp_${'7'.padStart(26, '0')}`);
const userId = UserId.parse(`usr_${'7'.padStart(26, '0')}`);
const policyHash = Digest.parse(`sha256:${'0'.repeat(64)}`);
const lane = LaneName.parse('one');
let scratch: TestDatabase;
let database: ControlPlaneDatabase;
let recorder: PlanRecorder;

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  await fill();
  await explainStatements(scratch);
  database = openControlPlaneDatabase(scratch.url);
  recorder = recordPlans(database.pool);
}, 120_000);

afterAll(async () => {
  await database?.close();
  await scratch?.drop();
});

it('no statement reads more than it answers with, however many workspaces have drafts, reports and lanes', async () => {
  const { reader } = database;
  const plans = await recorder.during(async () => {
    expect(await drafts.findDraft(reader, workspaceId)).toMatchObject({ version: 1 });
    expect(await lanes.listLanes(reader, workspaceId)).toHaveLength(1);
    expect(await lanes.listUndelivered(reader, now, 10)).toHaveLength(1);
    expect(await hours.listReadings(reader, now, 10)).toHaveLength(1);
    expect(await hours.listHours(reader, { workspaceId, lane, policyHash }, new Date(0))).toHaveLength(1);
    expect(await activations.listUnconfirmed(reader, now, 10)).toHaveLength(1);
    expect(await activations.listUnnoted(reader, { from: new Date(0), to: now, limit: 10 })).toHaveLength(1);
    await database.transaction(async (tx) => {
      await drafts.writeDraft(tx, { workspaceId, text: 'x', by: userId, now, tags: ['1'] });
      await drafts.noteCompiled(tx, { workspaceId, version: 2, policyHash });
      await jobs.claimJob(tx, { lease: 'l', now, until: now });
      await lanes.lockLanes(tx, workspaceId, { place: 1, now });
      const found = await lanes.findLane(tx, { workspaceId, lane });
      if (found === null) throw new Error('The lane that was stored is not found');
      await lanes.writeLane(tx, { ...found, version: 2 });
      expect(await lanes.noteStanding(tx, found, now)).toBe(false);
      const hour = { lane, policyHash, hour: now, decisions: 1, diverged: 1, widened: 0, faults: 0 };
      expect(await hours.noteRead(tx, { workspaceId, place: 1 }, { hours: [hour], next: 2, now })).toBe(true);
      expect(await hours.noteRead(tx, { workspaceId, place: 1 }, { hours: [hour], next: 2, now })).toBe(false);
      await lanes.endLane(tx, { ...found, version: 2 }, now);
      expect(await lanes.removeLane(tx, { ...found, version: 3 })).toBe(true);
      await hours.forgetHours(tx, new Date(0));
    });
    expect(await hours.listHours(reader, { workspaceId, lane, policyHash }, new Date(0))).toEqual([]);
  });
  expect(plans.length).toBeGreaterThan(20);
  expect(await findGrowingReads(scratch, plans, { rows: 20, pages: 200 })).toEqual([]);
});

/** One lane waits to be told, one workspace to be counted and one activation to be confirmed, beside many that do not. */
async function fill(): Promise<void> {
  const client = new pg.Client({ connectionString: scratch.adminUrl, options: '-c search_path=control_plane' });
  await client.connect();
  const one = `generate_series(1, ${rows}) AS n`;
  const wsp = `'wsp_' || lpad(n::text, 26, '0')`;
  const isDue = `CASE WHEN n = 7 THEN now() - interval '1 hour' ELSE now() + interval '1 hour' END`;
  await client.query(`
    INSERT INTO policy_drafts SELECT ${wsp}, 1, 'editing', 'x', NULL, NULL, '${userId}', now() FROM ${one};
    INSERT INTO what_if_jobs SELECT 'wif_' || lpad(n::text, 26, '0'), ${wsp}, 'h', '{}', NULL, NULL, 10, 1, 'done', 1, '{}', NULL, 'x', now(), now(), NULL, NULL FROM ${one};
    INSERT INTO policy_activations SELECT 'pac_' || n, ${wsp}, '${policyHash}', 'r', 'h', 'h', 1, 'active', 1, 'dec_' || lpad(n::text, 26, '0'), 'x', 'x', now(), ${isDue} FROM ${one};
    INSERT INTO policy_activations VALUES ('pac_0', '${workspaceId}', '${policyHash}', 'r', '${policyHash}', '${policyHash}', 2, 'decided', 1, 'dec_${'0'.repeat(26)}', 'rcp_${'0'.repeat(26)}', '${userId}', now() - interval '1 hour', NULL);
    INSERT INTO shadow_lanes SELECT ${wsp}, '${lane}', '${policyHash}', '{}', 1, 'standing', '${userId}', now(), ${isDue} FROM ${one};
    INSERT INTO shadow_readings SELECT ${wsp}, 1, ${isDue} FROM ${one};
    INSERT INTO shadow_hours SELECT ${wsp}, '${lane}', '${policyHash}', date_trunc('hour', now()), 1, 0, 0, 0 FROM ${one};
    ANALYZE`);
  await client.end();
}
