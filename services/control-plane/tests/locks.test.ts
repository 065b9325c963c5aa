import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { isAppError, PrincipalId, UserId, WorkspaceId, type IncidentId } from '@countersign/contracts';
import type { OpsTarget, PublicProof } from '@countersign/contracts/control-plane';
import { interleaved } from '@countersign/testkit/interleaved';
import { verifies } from '@countersign/testkit/verifies';
import pg from 'pg';
import type { Context } from '../src/context.ts';
import type { WorkspaceCaller } from '../src/guards.ts';
import { newIncidentId } from '../src/ids.ts';
import { moveIncident } from '../src/incidents/move-incident.ts';
import { giveStop } from '../src/ops/give-stop.ts';
import { setPublicProof } from '../src/orgs/set-public-proof.ts';
import { recordAudit } from '../src/store/audit.ts';
import { insertIncident } from '../src/store/incidents.ts';
import { findDraft, writeDraft } from '../src/store/policy-drafts.ts';
import { openStoreContext } from './_store-context.ts';

const ada = UserId.parse(`usr_${'7'.repeat(26)}`);
const requestId = 'req_1';

let opened: Awaited<ReturnType<typeof openStoreContext>>;
let context: Context;
let holder: pg.Client;
let caller: WorkspaceCaller;
let workspaces = 0;
beforeAll(async () => {
  opened = await openStoreContext();
  ({ context } = opened);
  holder = new pg.Client({ connectionString: opened.database.adminUrl, options: '-c search_path=control_plane' });
  await holder.connect();
});
beforeEach(async () => {
  const workspaceId = WorkspaceId.parse(`wsp_${String((workspaces += 1)).padStart(26, '0')}`);
  caller = {
    workspaceId,
    userId: ada,
    actor: PrincipalId.parse(ada),
    delegation: 'none',
    assertion: 'none',
  } as WorkspaceCaller; // no other member is read
  await context.transaction((tx) => recordAudit(tx, { scope: workspaceId, ...began }, new Date()));
});
afterAll(async () => {
  await holder?.end();
  await opened?.close();
});

const began = { action: 'test.began', actor: ada, verdict: 'allow', requestId } as const;

/** How each of two calls ended. Both began while the row that they write was locked. */
async function ends(row: string, first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<string[]> {
  const hold = `SELECT FROM ${row} FOR SHARE`;
  const ended = await interleaved({ holder, role: opened.database.role, hold }, first, second);
  return ended.map((end) => (end.status === 'fulfilled' ? 'done' : codeOf(end.reason)));
}

/** Like `ends`, for calls whose row does not exist yet. Both begin before either writes its audit entry. */
const endsAtFirst = (first: () => Promise<unknown>, second: () => Promise<unknown>): Promise<string[]> =>
  ends(`audit_heads WHERE scope = '${caller.workspaceId}'`, first, second);

const codeOf = (error: unknown): string => (isAppError(error) ? error.code : String(error));

async function openIncident(): Promise<IncidentId> {
  const id = newIncidentId();
  const at = new Date();
  const seen = { title: 'A leak', severity: 'low', category: 'other', dedupKey: id } as const;
  const state = { state: 'open', version: 1, recurrence: 1, owner: null, openedBy: null } as const;
  const times = { openedAt: at, lastSeenAt: at, updatedAt: at };
  const { workspaceId } = caller;
  await context.transaction((tx) => insertIncident(tx, { id, workspaceId, ...seen, ...state, ...times, receipts: [] }));
  return id;
}

describe('two concurrent callers', () => {
  it('cannot both overwrite the same version of a draft', async () => {
    const { workspaceId } = caller;
    const write = (text: string, version: number) => () =>
      context.transaction(async (tx) => {
        await writeDraft(tx, {
          workspaceId,
          text,
          by: ada,
          now: new Date(),
          tags: [String(version)],
          passesHold: true,
        });
        await recordAudit(tx, { scope: workspaceId, ...began }, new Date());
      });
    const refused = ['done', 'PRECONDITION_FAILED'];
    expect(await endsAtFirst(write('first', 0), write('of another', 0))).toEqual(refused);
    const row = `policy_drafts WHERE workspace_id = '${workspaceId}'`;
    expect(await ends(row, write('next', 1), write('of another', 1))).toEqual(refused);
    expect(await findDraft(context.database.reader, workspaceId)).toMatchObject({ text: 'next', version: 2 });
  });

  verifies('cp.incident', 'cannot both move the same version of an incident', async () => {
    const incidentId = await openIncident();
    const moveTo = (to: 'acked' | 'mitigating') => () =>
      moveIncident(context, { incidentId, to, note: 'x', standing: [], tags: ['1'] }, { caller, requestId });
    const row = `incidents WHERE id = '${incidentId}'`;
    expect(await ends(row, moveTo('acked'), moveTo('acked'))).toEqual(['done', 'PRECONDITION_FAILED']);
  });

  verifies('cp.freeze.order', 'can both stop one target: the later stop is in force, with its own epoch', async () => {
    const stop = (ttl_seconds: number) => () =>
      giveStop(
        context,
        'freeze',
        { target: 'agent:heidi' as OpsTarget, ttl_seconds, reason: 'a leak' },
        { caller, requestId },
      );
    const row = `stop_scopes WHERE workspace_id = '${caller.workspaceId}'`;
    expect(await endsAtFirst(stop(600), stop(1_200))).toEqual(['done', 'done']);
    expect(await ends(row, stop(1_800), stop(2_400))).toEqual(['done', 'done']);
    const { rows } = await holder.query(`SELECT epoch::int FROM stop_commands WHERE workspace_id = $1 ORDER BY epoch`, [
      caller.workspaceId,
    ]);
    expect(rows).toEqual([1, 2, 3, 4].map((epoch) => ({ epoch })));
  });

  verifies('cp.public', 'cannot both change the same setting of public proof', async () => {
    const change = (from: PublicProof, to: PublicProof) => () =>
      setPublicProof(context, { from, to }, { caller, requestId });
    const [shut, open] = [change('published', 'off'), change('off', 'published')];
    const refused = ['done', 'PRECONDITION_FAILED'];
    expect(await endsAtFirst(shut, shut)).toEqual(refused);
    expect(await ends(`public_proofs WHERE workspace_id = '${caller.workspaceId}'`, open, open)).toEqual(refused);
  });
});
