import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { DecisionId, Digest, isAppError, ReceiptId, UserId, WorkspaceId } from '@countersign/contracts';
import { interleaved } from '@countersign/testkit/interleaved';
import pg from 'pg';
import type { Context } from '../src/context.ts';
import type { WorkspaceCaller } from '../src/guards.ts';
import { newWhatIfId } from '../src/ids.ts';
import { noteActivation } from '../src/policy/put-into-force.ts';
import { reserveAfterConflict } from '../src/policy/reserve-after-conflict.ts';
import { requestReport } from '../src/policy/request-report.ts';
import { recordAudit } from '../src/store/audit.ts';
import { beginActivation, noteAllowed } from '../src/store/policy-activations.ts';
import { findDraft, noteCompiled, writeDraft } from '../src/store/policy-drafts.ts';
import { claimJob } from '../src/store/what-if-jobs.ts';
import { reports } from '../src/workers/reporter.ts';
import { openStoreContext } from './_store-context.ts';

const owner = UserId.parse(`usr_${'7'.repeat(26)}`);
const member = UserId.parse(`usr_${'8'.repeat(26)}`);
const policyHash = Digest.parse(`sha256:${'0'.repeat(64)}`);
const decided = {
  decisionId: DecisionId.parse(`dec_${'0'.repeat(26)}`),
  receiptId: ReceiptId.parse(`rcp_${'0'.repeat(26)}`),
};
const minuteMs = 60_000;
let nowMs = Date.parse('2026-01-01T00:00:00Z');
let opened: Awaited<ReturnType<typeof openStoreContext>>;
let context: Context;
let holder: pg.Client;
let workspaceId: WorkspaceId;
let workspaces = 0;

beforeAll(async () => {
  opened = await openStoreContext({ now: () => new Date(nowMs) });
  ({ context } = opened);
  holder = new pg.Client({ connectionString: opened.database.adminUrl, options: '-c search_path=control_plane' });
  await holder.connect();
});
beforeEach(async () => {
  workspaceId = await newWorkspace();
});
afterAll(async () => {
  await holder?.end();
  await opened?.close();
});

/** A workspace with a compiled draft. */
async function newWorkspace(): Promise<WorkspaceId> {
  const id = WorkspaceId.parse(`wsp_${String((workspaces += 1)).padStart(26, '0')}`);
  await edit({ by: owner, version: 0, of: id });
  await context.transaction((tx) => noteCompiled(tx, { workspaceId: id, version: 1, policyHash }));
  return id;
}

type Edit = { by: UserId; version: number; of?: WorkspaceId };
async function edit({ by, version, of = workspaceId }: Edit): Promise<void> {
  await context.transaction(async (tx) => {
    const now = await context.databaseNow(tx);
    const written = { workspaceId: of, text: `of ${by}`, by, now, tags: [String(version)], passesHold: by === owner };
    await writeDraft(tx, written);
    await recordAudit(tx, { scope: of, action: 'test.edited', actor: by, verdict: 'allow', requestId: 'req_1' }, now);
  });
}

async function request(askedBy: UserId): Promise<void> {
  const question = { policyHash, bundle: '{}', from: null, to: null, decisionsMax: 10 };
  const job = { id: newWhatIfId(), workspaceId, ...question, askedBy, holdsDraft: askedBy === owner };
  await context.transaction(async (tx) => requestReport(tx, job, await context.databaseNow(tx)));
}

async function finish(): Promise<void> {
  await context.transaction(async (tx) => {
    const now = context.now();
    const claim = () => claimJob(tx, { lease: 'mine', now, until: new Date(nowMs + minuteMs) });
    let job = await claim();
    while (job !== null && job.workspaceId !== workspaceId) job = await claim(); // skips reports of other tests
    if (job === null) throw new Error('no report is queued');
    const result = { decisions: 0 } as Parameters<typeof reports.finish>[1]['result']; // the result is not read here
    await reports.finish(tx, { snapshot: { id: job.id, lease: 'mine' }, job, result }, now);
  });
}

const refusal = (call: Promise<void>) =>
  call.then(
    () => null,
    (error: unknown) => (isAppError(error) ? { code: error.code, ...error.details } : String(error)),
  );
const heldUntil = (ms: number | null) => ({
  ...{ code: 'ILLEGAL_TRANSITION', held_by: owner, held_until: ms === null ? null : new Date(ms).toISOString() },
});

describe('the report of an owner', () => {
  it('holds the draft against members until 15 minutes after its end, but not against owners', async () => {
    await request(owner);
    nowMs += 60 * minuteMs;
    expect(await refusal(edit({ by: member, version: 1 }))).toEqual(heldUntil(null));
    await finish();
    const end = nowMs + 15 * minuteMs;
    nowMs = end - 1;
    expect(await refusal(edit({ by: member, version: 1 }))).toEqual(heldUntil(end));
    expect(await findDraft(context.database.reader, workspaceId)).toMatchObject({ version: 1, state: 'reported' });
    expect(await refusal(edit({ by: owner, version: 1 }))).toBeNull();
    expect(await refusal(edit({ by: member, version: 2 }))).toEqual(heldUntil(end)); // the hold continues
    nowMs = end;
    expect(await refusal(edit({ by: member, version: 2 }))).toBeNull();
  });

  it('is not ended by the report of a member', async () => {
    await request(owner);
    expect(await refusal(request(member))).toEqual(heldUntil(null));
    await finish();
    expect(await findDraft(context.database.reader, workspaceId)).toMatchObject({ state: 'reported' });
  });

  it('extends the hold of the previous report', async () => {
    await request(owner);
    await finish();
    nowMs += 14 * minuteMs;
    await request(owner);
    await finish();
    nowMs += 14 * minuteMs;
    expect(await refusal(edit({ by: member, version: 1 }))).toEqual(heldUntil(nowMs + minuteMs));
  });

  it('does not affect other workspaces', async () => {
    const second = await newWorkspace();
    await request(owner);
    expect(await refusal(edit({ by: member, version: 1, of: second }))).toBeNull();
  });

  it('no longer holds the draft after its activation', async () => {
    await request(owner);
    const activation = await context.transaction(async (tx) => {
      const begun = await beginActivation(tx, {
        ...{ id: `pac_${workspaceId}`, workspaceId, policyHash, reportId: newWhatIfId(), reportHash: policyHash },
        ...{ baseHash: policyHash, epoch: 1, askedBy: owner, createdAt: context.now() },
      });
      await noteAllowed(tx, begun, decided);
      return begun;
    });
    await noteActivation(context, activation, null);
    expect(await refusal(edit({ by: member, version: 1 }))).toBeNull();
  });

  it('is refused after a concurrent edit, or the edit is refused', async () => {
    const both = [() => request(owner), () => edit({ by: member, version: 1 })] as const;
    const codes = async (...calls: (() => Promise<void>)[]) => {
      const hold = `SELECT FROM policy_drafts WHERE workspace_id = '${workspaceId}' FOR SHARE`;
      const ended = await interleaved({ holder, role: opened.database.role, hold }, ...calls);
      return ended.map((end) => (end.status === 'fulfilled' ? 'done' : (end.reason as { code?: string }).code));
    };
    expect(await codes(...both)).toEqual(['done', 'ILLEGAL_TRANSITION']);
    workspaceId = await newWorkspace();
    expect(await codes(both[1], both[0])).toEqual(['done', 'ILLEGAL_TRANSITION']);
  });
});

describe('a try of an owner that conflicts with the edit of another person', () => {
  const tried = (by: UserId, version: number) => {
    const caller = { workspaceId, userId: by, role: by === owner ? 'owner' : 'member' } as WorkspaceCaller; // the rest is not read
    return reserveAfterConflict(context, { caller, requestId: 'req_1' }, () => edit({ by, version }));
  };

  it('reserves the draft for five minutes, so that the next try succeeds', async () => {
    await edit({ by: member, version: 1 });
    expect(await refusal(tried(owner, 1))).toMatchObject({ code: 'PRECONDITION_FAILED' });
    const end = nowMs + 5 * minuteMs;
    nowMs = end - 1;
    expect(await refusal(edit({ by: member, version: 2 }))).toEqual(heldUntil(end));
    expect(await refusal(request(member))).toEqual(heldUntil(end));
    expect(await refusal(tried(owner, 2))).toBeNull();
    nowMs = end;
    expect(await refusal(edit({ by: member, version: 3 }))).toBeNull();
  });

  it('reserves nothing for a member, or after an own edit', async () => {
    expect(await refusal(tried(member, 0))).toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect(await refusal(tried(owner, 0))).toMatchObject({ code: 'PRECONDITION_FAILED' });
    expect(await refusal(edit({ by: member, version: 1 }))).toBeNull();
  });
});

it('the report of a member does not hold the draft', async () => {
  await request(member);
  expect(await refusal(edit({ by: member, version: 1 }))).toBeNull();
});
