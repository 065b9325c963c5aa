import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Digest, UserId, WorkspaceId } from '@countersign/contracts';
import { ReplayFindings, ReplayId, ReplayQuestion } from '@countersign/contracts/control-plane';
import { LaneName } from '@countersign/contracts/governance-kernel';
import type { ControlPlaneDatabase, Tx } from '../src/store/database.ts';
import * as activations from '../src/store/policy-activations.ts';
import * as drafts from '../src/store/policy-drafts.ts';
import * as hours from '../src/store/shadow-hours.ts';
import * as lanes from '../src/store/shadow-lanes.ts';
import * as replays from '../src/store/replays.ts';
import * as jobs from '../src/store/what-if-jobs.ts';
import { FilledDatabase } from './_filled-database.ts';

const rows = 20_000;
const now = new Date();
const workspaceId = WorkspaceId.parse(`wsp_${'7'.padStart(26, '0')}`);
const userId = UserId.parse(`usr_${'7'.padStart(26, '0')}`);
const policyHash = Digest.parse(`sha256:${'0'.repeat(64)}`);
const lane = LaneName.parse('one');
let filled: FilledDatabase;
let database: ControlPlaneDatabase;

beforeAll(async () => {
  filled = await FilledDatabase.open(fillSql());
  database = filled.opened;
});

afterAll(() => filled?.close());

it('with many drafts, reports and lanes, a statement reads only the rows that it returns', async () => {
  const { reader } = database;
  const plans = await filled.during(async () => {
    expect(await drafts.findDraft(reader, workspaceId)).toMatchObject({ version: 1 });
    expect(await lanes.listLanes(reader, workspaceId)).toHaveLength(1);
    expect(await lanes.listUndelivered(reader, now, 10)).toHaveLength(1);
    expect(await hours.listReadings(reader, now, 10)).toHaveLength(1);
    expect(await hours.listHours(reader, { workspaceId, lane, policyHash }, new Date(0))).toHaveLength(1);
    expect(await activations.listUnconfirmed(reader, now, 10)).toHaveLength(1);
    expect(await activations.listUnnoted(reader, { from: new Date(0), to: now, limit: 10 })).toHaveLength(1);
    await database.transaction(async (tx) => {
      await drafts.writeDraft(tx, { workspaceId, text: 'x', by: userId, now, tags: ['1'], passesHold: true });
      await drafts.noteCompiled(tx, { workspaceId, version: 2, policyHash });
      await jobs.claimJob(tx, { lease: 'l', now, until: now });
      await workOnReplay(tx);
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
  expect(plans.length).toBeGreaterThan(30);
  expect(await filled.findGrowing(plans, { rows: 20, pages: 200 })).toEqual([]);
});

/** Adds a replay beside those of many workspaces. */
async function workOnReplay(tx: Tx): Promise<void> {
  const id = ReplayId.parse(`rpl_${'A'.repeat(22)}`);
  const times = { from: null, to: null };
  const under = { policy: 'recorded', policy_hash: null, session_id: null, ...times, limit: 10 };
  const question = ReplayQuestion.parse({ tenant_id: workspaceId, ...under });
  await replays.insertReplay(tx, { id, workspaceId, question, bundle: null, askedBy: userId, createdAt: now });
  expect(await replays.claimReplay(tx, { lease: 'l', now, until: now })).toMatchObject({ id, question });
  const snapshot = { id, lease: 'l' };
  expect(await replays.noteReplayProgress(tx, snapshot, { decisions: 0, treeSize: 1, until: now })).toBe(true);
  const none = { ALLOW: 0, DENY: 0, ESCALATE: 0, UNREPLAYABLE: 0 };
  const findings = ReplayFindings.parse({
    ...{ type: 'countersign.replay.v1', policy: 'recorded', policy_hash: null, tree_size: 1, decisions: 0 },
    is_narrowed: false,
    ...{ is_whole: true, unverifiable: 0, matrix: { ALLOW: none, DENY: none, ESCALATE: none }, pairs: [] },
    ...{ first_difference: null, replay_hash: policyHash },
  });
  const details = { first_difference: null, differences: [], unverifiable: [], missing: [] };
  await replays.finishReplay(tx, snapshot, { findings, details }, now);
  await replays.failReplay(tx, snapshot, 'it has no holder any more', now);
  expect(await replays.findReplay(tx, workspaceId, id)).toMatchObject({ state: 'done', findings, details });
  const another = { id: ReplayId.parse(`rpl_${'B'.repeat(22)}`), createdAt: new Date(now.getTime() + 1) };
  await replays.insertReplay(tx, { ...another, workspaceId, question, bundle: null, askedBy: userId });
  expect(await replays.findReplay(tx, workspaceId, id)).toMatchObject({ state: 'done' });
}

/** One lane, one workspace and one activation are due, beside many that are not. */
function fillSql(): string {
  const one = `generate_series(1, ${rows}) AS n`;
  const wsp = `'wsp_' || lpad(n::text, 26, '0')`;
  const isDue = `CASE WHEN n = 7 THEN now() - interval '1 hour' ELSE now() + interval '1 hour' END`;
  return `
    INSERT INTO policy_drafts SELECT ${wsp}, 1, 'editing', 'x', NULL, NULL, '${userId}', now() FROM ${one};
    INSERT INTO what_if_jobs SELECT 'wif_' || lpad(n::text, 26, '0'), ${wsp}, 'h', '{}', NULL, NULL, 10, 1, 'done', 1, '{}', NULL, 'x', now(), now(), NULL, NULL FROM ${one};
    INSERT INTO replays SELECT 'rpl_' || lpad(n::text, 22, '0'), ${wsp}, '{}', NULL, 1, 'done', 1, '{}', '{}', NULL, 'x', now(), now(), NULL, NULL FROM ${one};
    INSERT INTO policy_activations SELECT 'pac_' || n, ${wsp}, '${policyHash}', 'r', 'h', 'h', 1, 'active', 1, 'dec_' || lpad(n::text, 26, '0'), 'x', 'x', now(), ${isDue} FROM ${one};
    INSERT INTO policy_activations VALUES ('pac_0', '${workspaceId}', '${policyHash}', 'r', '${policyHash}', '${policyHash}', 2, 'decided', 1, 'dec_${'0'.repeat(26)}', 'rcp_${'0'.repeat(26)}', '${userId}', now() - interval '1 hour', NULL);
    INSERT INTO shadow_lanes SELECT ${wsp}, '${lane}', '${policyHash}', '{}', 1, 'standing', '${userId}', now(), ${isDue} FROM ${one};
    INSERT INTO shadow_readings SELECT ${wsp}, 1, ${isDue} FROM ${one};
    INSERT INTO shadow_hours SELECT ${wsp}, '${lane}', '${policyHash}', date_trunc('hour', now()), 1, 0, 0, 0 FROM ${one};
    ANALYZE`;
}
