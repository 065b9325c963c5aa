// Rows with states: reports and replays that workers claim, drafts, activations, lanes, and the silence of services.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { instantOf, Digest, TenantId, UserId, WhatIfId } from '@countersign/contracts';
import { ReplayFindings, ReplayId, ReplayQuestion, WhatIfReport } from '@countersign/contracts/control-plane';
import { LaneName } from '@countersign/contracts/governance-kernel';
import * as activations from '../src/store/policy-activations.ts';
import type { Tx } from '../src/store/database.ts';
import * as drafts from '../src/store/policy-drafts.ts';
import * as heartbeats from '../src/store/heartbeats.ts';
import * as hours from '../src/store/shadow-hours.ts';
import * as jobs from '../src/store/what-if-jobs.ts';
import * as lanes from '../src/store/shadow-lanes.ts';
import * as replays from '../src/store/replays.ts';
import { ada, beside, workspaceId } from './_listed.ts';
import { decided } from './_sign-in-rows.ts';
import { at, now, numbered, openUndone } from './_undone.ts';

let opened: Awaited<ReturnType<typeof openUndone>>;
beforeAll(async () => {
  opened = await openUndone();
});
afterAll(() => opened?.close());

const bob = UserId.parse(numbered('usr', 2));
const hash = Digest.parse(`sha256:${'a'.repeat(64)}`);
const otherHash = Digest.parse(`sha256:${'b'.repeat(64)}`);
const row = { ALLOW: 1, DENY: 0, ESCALATE: 0, UNREPLAYABLE: 0 };
const matrix = { ALLOW: row, DENY: row, ESCALATE: row };
const tenantId = TenantId.parse(workspaceId);
const jobId = (number: number) => WhatIfId.parse(numbered('wif', number));
const replayId = (number: number) => ReplayId.parse(`rpl_${String(number).padStart(22, '0')}`);

const report = WhatIfReport.parse({
  type: 'countersign.what-if.v1',
  question: { tenant_id: tenantId, policy_hash: hash, tree_size: 9, from: null, to: null, limit: 5 },
  ...{ decisions: 7, receipts: 8, is_whole: true, unverifiable: { count: 0, first: [] }, matrix },
  ...{ widened: [], examples: [], missing: [], agents: [], tools: [], report_hash: hash },
});
const findings = ReplayFindings.parse({
  ...{ type: 'countersign.replay.v1', policy: 'draft', policy_hash: hash, tree_size: 9, decisions: 7 },
  ...{ is_narrowed: false, is_whole: true, unverifiable: 0, matrix, pairs: [], first_difference: null },
  replay_hash: hash,
});
const details = { first_difference: null, differences: [], unverifiable: [], missing: [] };
const question = ReplayQuestion.parse({
  ...{ tenant_id: tenantId, policy: 'draft', policy_hash: hash, session_id: null, from: null, to: null },
  limit: 5,
});
const span = { from: instantOf(at(-9)), to: instantOf(at(-8)), decisionsMax: 5 };

type Lease = { lease: string; now: Date; until: Date };
/** Both kinds of work that workers claim under a lease. */
const works = {
  reports: {
    workOf: (number: number) => jobId(number) as string,
    insert: (tx: Tx, number: number, of = workspaceId) =>
      jobs.insertJob(tx, {
        ...{ id: jobId(number), workspaceId: of, policyHash: hash, bundle: 'text', ...span, askedBy: ada },
        ...{ createdAt: at(number), holdsDraft: false },
      }),
    claim: (tx: Tx, lease: Lease): Promise<object | null> => jobs.claimJob(tx, lease),
    claimed: { policyHash: hash, bundle: 'text', ...span },
    progress: jobs.noteProgress,
    putOff: jobs.putOffJob,
    fail: jobs.failJob,
    finish: (tx: Tx, snapshot: { id: string; lease: string }, end: Date) => jobs.finishJob(tx, snapshot, report, end),
    find: (tx: Tx, number: number): Promise<object | null> => jobs.findJob(tx, workspaceId, jobId(number)),
    shown: { policy_hash: hash, decisions_max: 5, report: null },
    result: { report },
    list: (tx: Tx) => tx.whatIfJob.findMany({ orderBy: { id: 'asc' } }),
  },
  replays: {
    workOf: (number: number) => replayId(number) as string,
    insert: (tx: Tx, number: number, of = workspaceId) =>
      replays.insertReplay(tx, {
        ...{ id: replayId(number), workspaceId: of, question, bundle: 'text', askedBy: ada, createdAt: at(number) },
      }),
    claim: (tx: Tx, lease: Lease): Promise<object | null> => replays.claimReplay(tx, lease),
    claimed: { question, bundle: 'text' },
    progress: replays.noteReplayProgress,
    putOff: replays.putOffReplay,
    fail: replays.failReplay,
    finish: (tx: Tx, snapshot: { id: string; lease: string }, end: Date) =>
      replays.finishReplay(tx, snapshot, { findings, details }, end),
    find: (tx: Tx, number: number): Promise<object | null> => replays.findReplay(tx, workspaceId, replayId(number)),
    shown: { question, created_by: ada, findings: null, details: null },
    result: { findings, details },
    list: (tx: Tx) => tx.replay.findMany({ orderBy: { id: 'asc' } }),
  },
};

describe.each(Object.entries(works))('%s that workers claim', (_name, work) => {
  const mine = (seconds: number) => ({ lease: 'mine', now: at(seconds), until: at(seconds + 10) });
  const heldOf = (number: number, lease = 'mine') => ({ id: work.workOf(number), lease });
  const progress = { decisions: 3, treeSize: 9, until: at(20) };

  it('are claimed oldest first, once, and again after the lease has ended', async () => {
    const claimed = await opened.undone(async (tx) => {
      await work.insert(tx, 2, beside);
      await work.insert(tx, 1);
      const found: unknown[] = [];
      for (const seconds of [0, 1, 2, 10, 11]) found.push(await work.claim(tx, mine(seconds)));
      return found;
    });
    const first = { ...work.claimed, id: work.workOf(1), workspaceId, treeSize: null, createdAt: at(1) };
    const second = { ...work.claimed, id: work.workOf(2), workspaceId: beside, treeSize: null, createdAt: at(2) };
    expect(claimed).toEqual([first, second, null, null, first]);
  });

  it('are written only under their lease, with their progress and result', async () => {
    const shown = await opened.undone(async (tx) => {
      await work.insert(tx, 1);
      const queued = await work.find(tx, 1);
      await work.claim(tx, mine(0));
      const noted = [
        await work.progress(tx, heldOf(1, 'other'), progress),
        await work.progress(tx, heldOf(1), progress),
      ];
      await work.putOff(tx, heldOf(1, 'other'), at(0));
      await work.fail(tx, heldOf(1, 'other'), 'x', at(3));
      await work.finish(tx, heldOf(1, 'other'), at(3));
      const running = await work.find(tx, 1);
      const heldStill = await work.claim(tx, mine(19));
      await work.finish(tx, heldOf(1), at(4));
      return [queued, noted, running, heldStill, await work.find(tx, 1), await work.claim(tx, mine(99))];
    });
    const plain = { ...work.shown, created_at: instantOf(at(1)), finished_at: null, failure: null };
    expect(shown).toEqual([
      expect.objectContaining({ ...plain, state: 'queued', decisions: 0 }),
      [false, true],
      expect.objectContaining({ ...plain, state: 'running', decisions: 3 }),
      null,
      expect.objectContaining({
        ...{ ...plain, ...work.result, state: 'done', decisions: 7, finished_at: instantOf(at(4)) },
      }),
      null,
    ]);
  });

  it('can be postponed, and fail with a reason', async () => {
    const shown = await opened.undone(async (tx) => {
      await work.insert(tx, 1);
      await work.claim(tx, mine(0));
      await work.progress(tx, heldOf(1), progress);
      await work.putOff(tx, heldOf(1), at(5));
      const early = await work.claim(tx, mine(5));
      const again = await work.claim(tx, mine(6));
      const anew = await work.find(tx, 1);
      await work.fail(tx, heldOf(1), 'A reason', at(7));
      return [early, again, anew, await work.find(tx, 1), await work.claim(tx, mine(99))];
    });
    expect(shown).toEqual([
      null,
      expect.objectContaining({ id: work.workOf(1), treeSize: 9 }),
      expect.objectContaining({ state: 'running', decisions: 0 }),
      expect.objectContaining({ state: 'failed', failure: 'A reason', finished_at: instantOf(at(7)) }),
      null,
    ]);
  });

  it('end when a newer one of their workspace is inserted, and the newest 20 are kept', async () => {
    const rows = await opened.undone(async (tx) => {
      await work.insert(tx, 99, beside);
      for (let number = 1; number <= 22; number += 1) {
        await work.insert(tx, number);
        if (number < 21) await work.claim(tx, mine(0));
        if (number === 5) await work.finish(tx, heldOf(5), at(6));
      }
      return await work.list(tx);
    });
    const lastOnes = Array.from({ length: 20 }, (_, index) => index + 3);
    expect(rows.map(({ id, state }) => [id, state])).toEqual([
      ...lastOnes.map((number) => [work.workOf(number), { 5: 'done', 22: 'queued' }[number] ?? 'failed']),
      [work.workOf(99), expect.stringMatching(/queued|running/)],
    ]);
    expect(rows[0]).toMatchObject({ failure: expect.stringMatching(/\w/), finishedAt: at(4), lease: null });
  });
});

const draft = { workspaceId, text: 'text', by: ada, now, tags: ['0'], passesHold: false };

describe('a draft', () => {
  const find = (tx: Tx) => drafts.findDraft(tx, workspaceId);
  const first = {
    ...{ workspace_id: workspaceId, version: 1, state: 'editing', text: 'text', policy_hash: null, report_id: null },
    ...{ updated_by: ada, updated_at: instantOf(now) },
  };

  it('moves from one state to the next only for its version and hash', async () => {
    const states = await opened.undone(async (tx) => {
      const found = [await find(tx)];
      const step = async (act: Promise<unknown>) => {
        await act;
        found.push(await find(tx));
      };
      await step(drafts.writeDraft(tx, draft));
      await step(drafts.noteReported(tx, { workspaceId, policyHash: hash }, jobId(1)));
      await step(drafts.noteCompiled(tx, { workspaceId, version: 2, policyHash: hash }));
      await step(drafts.noteCompiled(tx, { workspaceId, version: 1, policyHash: hash }));
      await step(drafts.noteReported(tx, { workspaceId, policyHash: otherHash }, jobId(1)));
      await step(drafts.noteReported(tx, { workspaceId, policyHash: hash }, jobId(1)));
      await step(drafts.noteCompiled(tx, { workspaceId, version: 1, policyHash: otherHash }));
      await step(drafts.noteActivated(tx, { workspaceId, policyHash: otherHash }));
      await step(drafts.noteActivated(tx, { workspaceId, policyHash: hash }));
      await step(drafts.noteReported(tx, { workspaceId, policyHash: hash }, jobId(2)));
      await step(drafts.noteCompiled(tx, { workspaceId, version: 2, policyHash: null }));
      await step(drafts.noteCompiled(tx, { workspaceId, version: 1, policyHash: null }));
      await step(drafts.noteCompiled(tx, { workspaceId, version: 1, policyHash: hash }));
      await step(drafts.writeDraft(tx, { ...draft, text: 'next', by: bob, now: at(1), tags: ['7', '1'] }));
      return found;
    });
    const compiled = { ...first, state: 'compiled', policy_hash: hash };
    const reported = { ...compiled, state: 'reported', report_id: jobId(1) };
    const activated = { ...reported, state: 'activated' };
    const reportedAgain = { ...reported, report_id: jobId(2) };
    const next = { ...first, version: 2, text: 'next', updated_by: bob, updated_at: instantOf(at(1)) };
    expect(states).toEqual([
      ...[null, first, first, first, compiled, compiled, reported, reported, reported, activated],
      ...[reportedAgain, reportedAgain, first, compiled, next],
    ]);
  });

  it('is written only with the current version', async () => {
    const refused = opened.undone((tx) => drafts.writeDraft(tx, { ...draft, tags: ['3', '4'] }));
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'PRECONDITION_FAILED', param: 'If-Match' },
      details: { current_version: 0, sent_versions: ['3', '4'] },
    });
  });
});

describe('an activation', () => {
  const begin = async (tx: Tx, id: string, epoch: number, reportNumber = 1) => {
    const hashes = { policyHash: hash, reportId: jobId(reportNumber), reportHash: hash, baseHash: otherHash };
    const begun = await activations.beginActivation(tx, {
      ...{ id, workspaceId, ...hashes, epoch, askedBy: ada, createdAt: now },
    });
    await activations.noteAllowed(tx, { id }, decided);
    return begun;
  };
  const noteInForce = (tx: Tx, id: string, epoch: number) =>
    activations.noteInForce(tx, { id, workspaceId, epoch }, at(epoch));
  const states = async (tx: Tx) =>
    (await tx.policyActivation.findMany({ orderBy: { id: 'asc' } })).map(({ state, confirmedAt }) => [
      state,
      confirmedAt,
    ]);

  it('is in force once, and replaces only those of lower epochs', async () => {
    const came = await opened.undone(async (tx) => {
      const begun = await begin(tx, 'a', 1);
      await begin(tx, 'b', 3);
      await begin(tx, 'c', 2);
      await begin(tx, 'd', 2, 2);
      const noted: unknown[] = [];
      for (const [id, epoch] of [
        ['a', 1],
        ['a', 1],
        ['b', 3],
        ['c', 2],
        ['d', 2],
      ] as const)
        noted.push(await noteInForce(tx, id, epoch));
      return [begun, noted, await states(tx)];
    });
    expect(came).toEqual([
      {
        ...{ id: 'a', workspaceId, policyHash: hash, reportHash: hash, baseHash: otherHash, epoch: 1 },
        ...{ state: 'deciding', attempt: 1, askedBy: ada, decided: null },
      },
      ['noted', 'known', 'noted', 'noted', 'overtaken'],
      [
        ['replaced', at(1)],
        ['active', at(3)],
        ['active', at(2)],
        ['decided', null],
      ],
    ]);
  });

  it('is confirmed and replaced only while it is in force', async () => {
    const ended = await opened.undone(async (tx) => {
      await begin(tx, 'a', 1);
      await begin(tx, 'b', 2);
      await noteInForce(tx, 'a', 1);
      for (const id of ['a', 'b']) await activations.noteConfirmed(tx, id, at(7));
      const confirmed = [await states(tx), (await activations.findActive(tx, workspaceId))?.decided];
      for (const id of ['a', 'b']) await activations.noteReplaced(tx, id);
      await activations.noteConfirmed(tx, 'a', at(8));
      return [...confirmed, await states(tx)];
    });
    const waits = ['decided', null];
    expect(ended).toEqual([[['active', at(7)], waits], decided, [['replaced', at(7)], waits]]);
  });
});

describe('a lane', () => {
  const name = LaneName.parse('stricter');
  const lane: lanes.StoredLane = {
    ...{ workspaceId, lane: name, policyHash: hash, bundle: '{}', version: 1, state: 'unconfirmed' },
    ...{ setBy: ada, setAt: at(-5) },
  };
  const hour = { lane: name, policyHash: hash, hour: at(1), decisions: 4, diverged: 3, widened: 2, faults: 1 };

  it('changes only with its current version, and is counted only for its current bundle', async () => {
    const seen = await opened.undone(async (tx) => {
      const find = async () => {
        const { state, version } = (await lanes.findLane(tx, lane)) ?? {};
        const { deliverAt } = await tx.shadowLane.findFirstOrThrow();
        return [state, version, deliverAt];
      };
      await lanes.lockLanes(tx, workspaceId, { place: 5, now });
      await lanes.writeLane(tx, lane);
      const written = [await lanes.findLane(tx, lane), await find()];
      const stale = { ...lane, version: 9 };
      const active = [await lanes.noteStanding(tx, stale, at(1)), await lanes.noteStanding(tx, lane, at(1))];
      const stood = await find();
      await lanes.delayLane(tx, lane, at(2));
      const delayed = await find();
      const read = { hours: [hour, hour, { ...hour, policyHash: otherHash }], next: 6, now: at(3) };
      const noted: boolean[] = [];
      for (const place of [4, 5, 5]) noted.push(await hours.noteRead(tx, { workspaceId, place }, read));
      const counted = await tx.shadowHour.findMany();
      await lanes.endLane(tx, stale, at(4));
      const kept = await find();
      await lanes.endLane(tx, lane, at(4));
      const ending = await find();
      await lanes.writeLane(tx, { ...lane, lane: LaneName.parse('other') });
      const removed = [await lanes.removeLane(tx, lane), await lanes.removeLane(tx, { ...lane, version: 2 })];
      const remaining = [await tx.shadowHour.count(), await tx.shadowReading.count()];
      await lanes.removeLane(tx, { ...lane, lane: LaneName.parse('other') });
      return {
        written,
        active,
        stood,
        delayed,
        noted,
        counted,
        kept,
        ending,
        removed,
        remaining,
        last: await tx.shadowReading.count(),
      };
    });
    expect(seen).toEqual({
      written: [lane, ['unconfirmed', 1, at(-5)]],
      active: [false, true],
      stood: ['standing', 1, at(1)],
      delayed: ['standing', 1, at(2)],
      noted: [false, true, false],
      counted: [{ ...hour, workspaceId, decisions: 8, diverged: 6, widened: 4, faults: 2 }],
      kept: ['standing', 1, at(2)],
      ending: ['ending', 2, at(4)],
      removed: [false, true],
      remaining: [0, 1],
      last: 0,
    });
  });
});

describe('the silence of a service', () => {
  it('begins at the first probe without a response, and again after a pause of the probes', async () => {
    const since = await opened.undone(async (tx) => {
      const miss = (seconds: number, awakeSince: number) =>
        heartbeats.noteMissed(tx, 'kernel', { now: at(seconds), awakeSince: at(awakeSince) });
      const missed = [await miss(1, 0), await miss(2, 1), await miss(9, 8), await miss(10, 9)];
      await heartbeats.noteHeard(tx, 'kernel', at(11));
      return [...missed, await tx.heartbeat.findFirst(), await miss(12, 11)];
    });
    const heard = { service: 'kernel', askedAt: at(11), heardAt: at(11), missedSince: null };
    expect(since).toEqual([at(1), at(1), at(9), at(9), heard, at(12)]);
  });
});
