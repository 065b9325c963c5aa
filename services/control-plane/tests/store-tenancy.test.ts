// Two workspaces have the same names, hashes, keys and states. Each sees only its own rows, and its changes leave the
// rows of the other unchanged. A statement without a condition on the workspace would find or change rows of the other.
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  instantOf,
  ApprovalId,
  DecisionId,
  Digest,
  ReceiptId,
  TenantId,
  UserId,
  WorkspaceId,
} from '@countersign/contracts';
import { BlastRadius, OpsTarget } from '@countersign/contracts/control-plane';
import { LaneName } from '@countersign/contracts/governance-kernel';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import pg from 'pg';
import {
  newActivationId,
  newCommandId,
  newHandleId,
  newIncidentId,
  newPlanId,
  newReplayId,
  newWhatIfId,
} from '../src/ids.ts';
import * as activations from '../src/store/policy-activations.ts';
import * as audit from '../src/store/audit.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase, type Tx } from '../src/store/database.ts';
import * as holds from '../src/store/draft-holds.ts';
import * as drafts from '../src/store/policy-drafts.ts';
import * as handles from '../src/store/evidence-handles.ts';
import * as hints from '../src/store/hints.ts';
import * as hours from '../src/store/shadow-hours.ts';
import * as incidents from '../src/store/incidents.ts';
import * as jobs from '../src/store/what-if-jobs.ts';
import * as lanes from '../src/store/shadow-lanes.ts';
import * as plans from '../src/store/plans.ts';
import * as proofs from '../src/store/public-proofs.ts';
import * as replays from '../src/store/replays.ts';
import * as sightings from '../src/store/incident-sightings.ts';
import * as stops from '../src/store/stops.ts';
import * as watched from '../src/store/watched-workspaces.ts';

const scratch: TestDatabase = await createTestDatabase({
  serviceDir: fileURLToPath(new URL('..', import.meta.url)),
  schema: 'control_plane',
});
const database: ControlPlaneDatabase = openControlPlaneDatabase(scratch.url);
const administrator = new pg.Pool({ connectionString: scratch.adminUrl, max: 1 });
afterAll(async () => {
  await database.close();
  await administrator.end();
  await scratch.drop();
});

const now = new Date('2026-11-01T10:00:00.000Z');
const later = new Date('2026-11-01T11:00:00.000Z');
const ada = UserId.parse(`usr_${'7'.repeat(26)}`);
const bob = UserId.parse(`usr_${'8'.repeat(26)}`);
const hash = Digest.parse(`sha256:${'a'.repeat(64)}`);
const lane = LaneName.parse('stricter');
const decided = {
  decisionId: DecisionId.parse(`dec_${'0'.repeat(26)}`),
  receiptId: ReceiptId.parse(`rcp_${'0'.repeat(26)}`),
};
const counted = { decisions: 3, diverged: 2, widened: 1, faults: 0 };

let workspaces = 0;
type Workspace = Awaited<ReturnType<typeof fill>>;
let own: Workspace;
let otherWorkspace: Workspace;
beforeAll(async () => {
  [own, otherWorkspace] = [await fill(), await fill()];
});

/** A workspace with one row of each kind. */
async function fill() {
  const workspaceId = WorkspaceId.parse(`wsp_${String((workspaces += 1)).padStart(26, '0')}`);
  const scope = `agent:${workspaceId}/heidi` as Parameters<typeof stops.findLatestCommand>[1];
  const ids = {
    ...{ workspaceId, scope, job: newWhatIfId(), replay: newReplayId(), plan: newPlanId(), incident: newIncidentId() },
    ...{ handle: newHandleId(), activation: newActivationId(), command: newCommandId() },
  };
  await database.transaction(async (tx) => {
    await drafts.writeDraft(tx, { workspaceId, text: 'x', by: ada, now, tags: ['0'], passesHold: true });
    await drafts.noteCompiled(tx, { workspaceId, version: 1, policyHash: hash });
    await insertJob(tx, ids);
    await insertReplay(tx, ids);
    await activations.beginActivation(tx, { ...activationOf(ids), createdAt: now, askedBy: ada });
    await activations.noteAllowed(tx, { id: ids.activation }, decided);
    await activations.noteInForce(tx, { id: ids.activation, workspaceId, epoch: 1 }, now);
    await lanes.lockLanes(tx, workspaceId, { place: 1, now });
    const bundle = { policyHash: hash, bundle: '{}', version: 1, state: 'unconfirmed' as const };
    await lanes.writeLane(tx, { ...bundle, workspaceId, lane, setBy: ada, setAt: now });
    const hour = { lane, policyHash: hash, hour: now, ...counted };
    await hours.noteRead(tx, { workspaceId, place: 1 }, { hours: [hour], next: 2, now });
    await incidents.insertIncident(tx, incidentOf(ids));
    await insertPlan(tx, ids);
    await stops.lockScope(tx, { scope, workspaceId });
    const plain = { callLimit: null, windowSeconds: null, expiresAt: null, decisionId: null, receiptId: null };
    const values = { kind: 'freeze' as const, reason: 'x', givenBy: ada, givenAt: now, planId: null, incidentId: null };
    await stops.insertCommand(tx, { id: ids.command, workspaceId, scope, epoch: 1, ...plain, ...values });
    await proofs.lockPublicProof(tx, workspaceId, now);
    await handles.insertHandle(tx, handleOf(ids));
    await audit.recordAudit(tx, { scope: workspaceId, ...act }, now);
    await sightings.recordSighting(tx, workspaceId, { dedupKey: 'key', sighting: 'seen' }, now);
  });
  await administrator.query(
    `INSERT INTO control_plane.watched_workspaces (workspace_id, place, checked_at) VALUES ($1, 1, $2)
     ON CONFLICT (workspace_id) DO UPDATE SET place = 1`,
    [workspaceId, now],
  );
  return ids;
}

type Ids = { workspaceId: WorkspaceId };
const act = { actor: ada, action: 'policy.draft', verdict: 'allow', requestId: 'req-1' } as const;

async function insertJob(tx: Tx, { workspaceId, job: id }: Ids & { job: Parameters<typeof jobs.insertJob>[1]['id'] }) {
  const span = { from: null, to: null, decisionsMax: 10 };
  await jobs.insertJob(tx, {
    id,
    workspaceId,
    policyHash: hash,
    bundle: '{}',
    ...span,
    askedBy: ada,
    holdsDraft: true,
    createdAt: now,
  });
}

type ReplayKey = Parameters<typeof replays.insertReplay>[1]['id'];
async function insertReplay(tx: Tx, { workspaceId, replay: id }: Ids & { replay: ReplayKey }) {
  const all = { policy: 'recorded', policy_hash: null, session_id: null, from: null, to: null, limit: 10 } as const;
  const question = { ...all, tenant_id: TenantId.parse(workspaceId) };
  await replays.insertReplay(tx, { id, workspaceId, question, bundle: null, askedBy: ada, createdAt: now });
}

type PlanKeys = { plan: Parameters<typeof plans.insertPlan>[1]['id']; incident: Workspace['incident'] };
async function insertPlan(tx: Tx, { workspaceId, plan: id, incident: incidentId }: Ids & PlanKeys) {
  const step = { kind: 'freeze', target: OpsTarget.parse('agent:heidi') } as const;
  const affected = Object.fromEntries(affectedLists.map((name) => [name, []]));
  const dryRun = BlastRadius.parse({
    ...{ type: 'countersign.blast-radius.v1', tenant_id: workspaceId, steps: [step], tree_size: 0, root_hash: null },
    ...{ from: null, receipts: 0, is_whole: true, unverifiable: 0, affected, more_relations: false },
    ...{ denials: { count: 0, first: [] }, reversibility: 'whole', radius_hash: hash },
  });
  const shown = { steps: [{ ...step, reason: 'x' }], dryRun, planHash: hash };
  await plans.insertPlan(tx, { id, workspaceId, incidentId, ...shown, askedBy: ada, createdAt: now, expiresAt: later });
}

const affectedLists = ['agents', 'sessions', 'runs', 'tools', 'connectors', 'approvals', 'dispatches', 'relations'];

const activationOf = ({ workspaceId, activation: id }: Ids & { activation: string }) => ({
  ...{ id, workspaceId, policyHash: hash, reportId: newReportId, reportHash: hash, baseHash: hash, epoch: 1 },
});
const newReportId = newWhatIfId();

function incidentOf({ workspaceId, incident: id }: Ids & { incident: ReturnType<typeof newIncidentId> }) {
  const seen = { title: 'x', severity: 'low', category: 'other', dedupKey: 'key' } as const;
  const state = { state: 'open', version: 1, recurrence: 1, owner: null, receipts: [], openedBy: null } as const;
  return { id, workspaceId, ...seen, ...state, receipts: [], openedAt: now, lastSeenAt: now, updatedAt: now };
}

function handleOf({ workspaceId, handle: id }: Ids & { handle: ReturnType<typeof newHandleId> }) {
  const times = { requested_at: instantOf(now), updated_at: instantOf(now), published_at: instantOf(now) };
  const votes = { state: 'approved', quorum: 1, approved: 1, method: 'votes' } as const;
  const approval = { approval_id: ApprovalId.parse(`apr_${'0'.repeat(26)}`), ...votes, ...times, ceremony_hash: hash };
  return {
    id,
    workspaceId,
    kind: 'approval' as const,
    shown: approval,
    receiptId: null,
    createdBy: ada,
    createdAt: now,
    expiresAt: later,
  };
}

/** All rows of a workspace in all tables. */
async function rowsOf({ workspaceId }: Ids): Promise<string[]> {
  const { rows: tables } = await administrator.query<{ table_name: string; column_name: string }>(
    `SELECT table_name, column_name FROM information_schema.columns
      WHERE table_schema = 'control_plane' AND column_name IN ('workspace_id', 'scope') ORDER BY 1, 2`,
  );
  const rows: string[] = [];
  for (const { table_name: table, column_name: column } of tables) {
    const found = await administrator.query<{ row: string }>(
      `SELECT to_jsonb(t)::text AS row FROM control_plane."${table}" AS t WHERE "${column}" = $1 ORDER BY 1`,
      [workspaceId],
    );
    rows.push(...found.rows.map(({ row }) => `${table} ${row}`));
  }
  return rows;
}

type Ask = (workspace: Ids, object: Workspace) => Promise<unknown>;
const { reader, transaction } = database;

/** Reads by the id of an object. */
const finds: Record<string, Ask> = {
  findJob: ({ workspaceId }, { job }) => jobs.findJob(reader, workspaceId, job),
  findReplay: ({ workspaceId }, { replay }) => replays.findReplay(reader, workspaceId, replay),
  findPlan: ({ workspaceId }, { plan }) => plans.findPlan(reader, workspaceId, plan),
  findIncident: ({ workspaceId }, { incident }) => incidents.findIncident(reader, workspaceId, incident),
  lockIncident: ({ workspaceId }, { incident }) =>
    transaction((tx) => incidents.lockIncident(tx, workspaceId, incident)),
  findHandle: ({ workspaceId }, { handle: id }) => handles.findHandle(reader, { id, workspaceId, now }),
};

/** Reads of all rows of a workspace, with the ids in their results. */
const lists: Record<string, (workspace: Ids) => Promise<unknown[]>> = {
  findDraft: async ({ workspaceId }) => [(await drafts.findDraft(reader, workspaceId))?.workspace_id],
  findActive: async ({ workspaceId }) => [(await activations.findActive(reader, workspaceId))?.id],
  listVersions: async ({ workspaceId }) =>
    (await activations.listVersions(reader, workspaceId, { limit: 9, below: undefined })).map(({ epoch }) => epoch),
  findInterrupted: async ({ workspaceId }) => {
    const named = { workspaceId, policyHash: hash, reportId: newReportId, epoch: 1 };
    return [(await activations.findInterrupted(reader, named))?.id];
  },
  findLane: async ({ workspaceId }) => [(await lanes.findLane(reader, { workspaceId, lane }))?.workspaceId],
  listLanes: async ({ workspaceId }) => (await lanes.listLanes(reader, workspaceId)).map((each) => each.workspaceId),
  listHours: async ({ workspaceId }) =>
    (await hours.listHours(reader, { workspaceId, lane, policyHash: hash }, now)).map(
      (each) => (each as { workspaceId?: string }).workspaceId, // a member of the row that the type does not have
    ),
  listIncidents: async ({ workspaceId }) =>
    (await incidents.listIncidents(reader, workspaceId, { limit: 9 })).incidents.map(({ id }) => id),
  lockUnclosed: async ({ workspaceId }) => [
    (await transaction((tx) => incidents.lockUnclosed(tx, workspaceId, 'key')))?.id,
  ],
  listHandles: async ({ workspaceId }) =>
    (await handles.listHandles(reader, { workspaceId, now, limit: 9 })).handles.map(({ id }) => id),
  listScopes: ({ workspaceId }) => stops.listScopes(reader, workspaceId, 9),
  countUnconfirmed: async ({ workspaceId }) => [await stops.countUnconfirmed(reader, workspaceId)],
  findSighted: async ({ workspaceId }) => [
    ...(await sightings.findSighted(reader, [workspaceId], { dedupKey: 'key', sighting: 'seen' })),
  ],
  listAuditEntries: async ({ workspaceId }) =>
    (await audit.listAuditEntries(reader, workspaceId, { limit: 9 })).data.map(({ scope }) => scope),
  listAuditFrom: async ({ workspaceId: scope }) =>
    (await audit.listAuditFrom(reader, { scope, seq: 1, limit: 9 })).map((entry) => entry.scope),
  listHints: async ({ workspaceId: scope }) =>
    (await hints.listHints(reader, { scope, after: 0, to: 9 })).map(({ type }) => type),
  countHints: async ({ workspaceId: scope }) => [await hints.countHints(reader, { scope, since: now })],
};

/** The result of each list for a workspace with one row of each kind. */
const listed = ({ workspaceId, scope, incident, handle, activation }: Workspace): Record<string, unknown[]> => ({
  ...{ findDraft: [workspaceId], findActive: [activation], findInterrupted: [activation], findLane: [workspaceId] },
  ...{ listVersions: [1] },
  ...{ listLanes: [workspaceId], listHours: [workspaceId], listIncidents: [incident], lockUnclosed: [incident] },
  ...{ listHandles: [handle], listScopes: [scope], countUnconfirmed: [1], findSighted: [workspaceId] },
  ...{ listAuditEntries: [workspaceId], listAuditFrom: [workspaceId], listHints: ['policy'], countHints: [1] },
});

/** All changes that a workspace makes to its own rows. */
const changes: Record<string, (tx: Tx, workspace: Workspace) => Promise<unknown>> = {
  insertJob: (tx, { workspaceId }) => insertJob(tx, { workspaceId, job: newWhatIfId() }),
  insertReplay: (tx, { workspaceId }) => insertReplay(tx, { workspaceId, replay: newReplayId() }),
  writeDraft: (tx, { workspaceId }) =>
    drafts.writeDraft(tx, { workspaceId, text: 'changed', by: ada, now: later, tags: ['1'], passesHold: true }),
  reserveDraft: (tx, { workspaceId }) => holds.reserveDraft(tx, { workspaceId, by: bob, now: later }),
  releaseDraft: (tx, { workspaceId }) => holds.releaseDraft(tx, workspaceId),
  noteReported: (tx, { workspaceId, job }) => drafts.noteReported(tx, { workspaceId, policyHash: hash }, job),
  noteActivated: (tx, { workspaceId }) => drafts.noteActivated(tx, { workspaceId, policyHash: hash }),
  uncompile: (tx, { workspaceId }) => drafts.noteCompiled(tx, { workspaceId, version: 1, policyHash: null }),
  noteInForce: async (tx, { workspaceId }) => {
    const id = newActivationId();
    const next = { ...activationOf({ workspaceId, activation: id }), epoch: 2 };
    await activations.beginActivation(tx, { ...next, createdAt: later, askedBy: ada });
    await activations.noteAllowed(tx, { id }, decided);
    expect(await activations.noteInForce(tx, { id, workspaceId, epoch: 2 }, later)).toBe('noted');
  },
  endLane: (tx, { workspaceId }) => lanes.endLane(tx, { workspaceId, lane, version: 1 }, later),
  noteStanding: (tx, { workspaceId }) => lanes.noteStanding(tx, { workspaceId, lane, version: 1 }, later),
  delayLane: (tx, { workspaceId }) => lanes.delayLane(tx, { workspaceId, lane }, later),
  removeLane: (tx, { workspaceId }) => lanes.removeLane(tx, { workspaceId, lane, version: 1 }),
  noteRead: (tx, { workspaceId }) => {
    const hour = { lane, policyHash: hash, hour: now, ...counted };
    return hours.noteRead(tx, { workspaceId, place: 2 }, { hours: [hour], next: 3, now: later });
  },
  writeIncident: async (tx, { workspaceId, incident }) => {
    const existing = await incidents.findIncident(tx, workspaceId, incident);
    if (existing !== null) await incidents.writeIncident(tx, { ...existing, title: 'changed' });
  },
  recordSighting: (tx, { workspaceId }) =>
    sightings.recordSighting(tx, workspaceId, { dedupKey: 'key', sighting: 'again' }, later),
  noteChecked: (tx, { workspaceId }) => watched.noteChecked(tx, { workspaceId, place: 7 }),
  writePublicProof: (tx, { workspaceId }) => proofs.writePublicProof(tx, { workspaceId, setting: 'off' }, later),
  recordAudit: (tx, { workspaceId }) => audit.recordAudit(tx, { scope: workspaceId, ...act }, later),
};

describe('a workspace', () => {
  it.each(Object.keys(finds))('does not find rows of another one: %s', async (name) => {
    const ask = finds[name] ?? missing;
    expect([await ask(own, own), await ask(own, otherWorkspace)]).toEqual([expect.anything(), null]);
  });

  it.each(Object.keys(lists))('lists and counts only its own rows: %s', async (name) => {
    const list = lists[name] ?? missing;
    expect([await list(own), await list(otherWorkspace)]).toEqual([listed(own)[name], listed(otherWorkspace)[name]]);
  });

  it.each(Object.keys(changes))('changes only its own rows: %s', async (name) => {
    const beside = await rowsOf(otherWorkspace);
    const changed = await fill();
    const before = await rowsOf(changed);
    await transaction((tx) => (changes[name] ?? missing)(tx, changed));
    expect(await rowsOf(changed)).not.toEqual(before);
    expect(await rowsOf(otherWorkspace)).toEqual(beside);
  });
});

function missing(): never {
  throw new Error('The table has no such entry');
}
