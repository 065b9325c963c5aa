import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Digest, PlanId, SignInId, UserId, WorkspaceId } from '@countersign/contracts';
import { BlastRadius, HandleId, OpsTarget, PublicReceipt } from '@countersign/contracts/control-plane';
import { FenceScope, OrgId } from '@countersign/contracts/governance-kernel';
import { recordAudit } from '../src/store/audit.ts';
import { newCommandId } from '../src/ids.ts';
import * as answerKeys from '../src/store/answer-keys.ts';
import * as deviceLogins from '../src/store/device-logins.ts';
import type { ControlPlaneDatabase, Tx } from '../src/store/database.ts';
import * as hints from '../src/store/hints.ts';
import * as handles from '../src/store/evidence-handles.ts';
import * as logins from '../src/store/logins.ts';
import * as orgs from '../src/store/orgs.ts';
import * as proofs from '../src/store/public-proofs.ts';
import * as plans from '../src/store/plans.ts';
import * as sessions from '../src/store/sessions.ts';
import * as stops from '../src/store/stops.ts';
import * as tickets from '../src/store/tickets.ts';
import { FilledDatabase } from './_filled-database.ts';

const now = new Date();
const digest = `sha256:${'0'.repeat(64)}`;
const shownReceipt = PublicReceipt.parse({
  receipt_id: `rcp_${'0'.repeat(25)}7`,
  ...{ kind: 'decision', status: 'sealed', verdict: 'ALLOW', reason_code: 'ALLOWED' },
  issued_at: '2026-01-01T00:00:00.000Z',
  ...{ receipt_hash: digest, prev_hash: null, lamport_clock: 1, policy_hash: null, policy_epoch: 0, key_id: 'k' },
  log: { index: 0, tree_size: 1, hashes: [], note: '' },
});
const later = new Date(now.getTime() + 60_000);
const rows = 20_000;
const workspaceId = WorkspaceId.parse(`wsp_${'0'.repeat(26)}`);
const scope = FenceScope.parse(`tenant:${workspaceId}`);
let filled: FilledDatabase;
let database: ControlPlaneDatabase;

beforeAll(async () => {
  filled = await FilledDatabase.open(fillSql());
  database = filled.opened;
});

afterAll(() => filled?.close());

it('with many people signed in, a statement reads only the rows that it returns or removes', async () => {
  const plans = await filled.during(async () => {
    await logins.findOpenLogin(database.reader, 'login-7', now);
    await logins.listRefusedLogins(database.reader, new Date(0), 10);
    await sessions.findByAccessToken(database.reader, 'access-7', now);
    await orgs.findOrgOfAdmin(database.reader, person(7));
    await orgs.findOrgOfWorkspace(database.reader, workspace(7));
    await orgs.findOrgIds(database.reader, [workspace(7), workspace(rows + 1)]);
    await orgs.findFirstWorkspace(database.reader, org(7));
    await orgs.listUnplaced(database.reader, 10);
    await findHandles();
    await answerKeyed();
    await database.transaction(async (tx) => {
      const made = { id: org(rows + 1), name: 'new', adminId: person(rows + 1) };
      expect(await orgs.insertOrg(tx, made, now)).toBe(true);
      const owned = { workspaceId: workspace(rows + 1), orgId: made.id };
      expect(await orgs.insertOrgWorkspace(tx, owned, now)).toBe(true);
      await orgs.markPlaced(tx, owned.workspaceId, now);
      const whose = { email: 'new@example.org', userId: null, sessionId: null, statement: null, oidc: null };
      await logins.insertLogin(tx, { ...whose, idHash: 'new', createdAt: now, expiresAt: later });
      await logins.finishLogin(tx, { idHash: 'login-7', userId: person(7) }, now);
      await logins.countRefusal(tx, 'login-7');
      const who = { userId: person(0), methods: ['code' as const], client: '', address: '', within: null };
      const session = { ...who, id: id('NEW') };
      const times = { provenAt: now, createdAt: now, expiresAt: later, endedAt: null };
      await sessions.insertSession(tx, { ...session, ...times });
      const tokens = {
        sessionId: session.id,
        accessHash: 'a',
        accessExpiresAt: later,
        refreshHash: 'r',
        issuedAt: now,
      };
      await sessions.insertTokens(tx, tokens);
      const token = await sessions.lockRefreshToken(tx, 'r');
      if (token === null) throw new Error('The token that was stored is not found');
      await sessions.spendRefreshToken(tx, token, now);
      await sessions.extendSession(tx, token.session, later);
      await sessions.endSession(tx, token.session, { now, reason: 'signed_out' });
      expect(await sessions.findSession(tx, session.id)).toMatchObject({ endedAt: now });
      const act = { action: 'session.opened', actor: 'x', verdict: 'allow' } as const;
      for (const scope of [person(7), person(rows + 1)]) await recordAudit(tx, { ...act, scope }, now);
      await giveStop(tx);
      await drawPlan(tx);
      expect(await handles.revokeHandle(tx, handle(7), now)).toBe(true);
      await shutProof(tx);
      await handles.forgetHandles(tx, new Date(0));
      await logins.forgetLogins(tx, new Date(0));
      await sessions.forgetSessions(tx, new Date(0));
    });
  });
  expect(plans.length).toBeGreaterThan(30);
  expect(await filled.findGrowing(plans, { rows: 20, pages: 200 })).toEqual([]);
});

it('with many programs signed in, a statement reads only the rows that it returns', async () => {
  const { reader } = database;
  const plans = await filled.during(async () => {
    await sessions.listLiveAmong(reader, [id('7'), id('8')], now);
    for (const kind of ['browser', 'device'] as const)
      await sessions.listLiveOf(reader, { userId: person(7), kind }, now);
    await deviceLogins.findPendingByUserCode(reader, 'code-7', now);
    await database.transaction(async (tx) => {
      await sessions.markProven(tx, { id: id('7'), methods: ['code'] }, now);
      const login = await deviceLogins.lockDeviceLogin(tx, 'device-7');
      if (login === null) throw new Error('The login that was stored is not found');
      await deviceLogins.recordPoll(tx, login, { polledAt: now, intervalSeconds: 5 });
      await deviceLogins.answerDeviceLogin(tx, login, { state: 'denied', userId: person(7), sessionId: id('7'), now });
      const request = { client: 'cli', address: '', workspaceId: null, role: 'member' as const, intervalSeconds: 5 };
      const times = { createdAt: now, expiresAt: later };
      await deviceLogins.insertDeviceLogin(tx, { ...request, ...times, codeHash: 'new', userCode: 'NEW' });
      await deviceLogins.forgetDeviceLogins(tx, new Date(0));
    });
  });
  expect(plans.length).toBeGreaterThan(7);
  expect(await filled.findGrowing(plans, { rows: 20, pages: 200 })).toEqual([]);
});

it('with many notifications and subscriptions, a statement reads only the rows that it returns', async () => {
  const { reader } = database;
  const at = workspace(7);
  const plans = await filled.during(async () => {
    expect(await hints.findPlace(reader, at)).toEqual({ own: 1, all: 0 });
    await hints.listHints(reader, { scope: workspaceId, after: rows - 2, to: rows });
    expect(await hints.countHints(reader, { scope: at, since: new Date(0) })).toBe(1);
    expect(await stops.countUnconfirmed(reader, workspaceId)).toBe(0);
    await tickets.findTicket(reader, { hash: 'ticket-7', sessionId: id('7') }, new Date(0));
    await database.transaction(async (tx) => {
      const hint = { type: 'run', ref: 'x', version: null } as const;
      await hints.recordHint(tx, at, hint, now);
      await hints.recordHint(tx, workspace(rows + 1), { ...hint, ref: 'x'.repeat(513) }, now);
      expect(await hints.listHints(tx, { scope: at, after: 1, to: 9 })).toEqual([{ ...hint, seq: 2 }]);
      expect(await hints.listHints(tx, { scope: workspace(rows + 1), after: 0, to: 9 })).toMatchObject([{ ref: null }]);
      expect(await hints.noteMembers(tx, at, 2)).toBe(true);
      expect(await hints.noteMembers(tx, at, 2)).toBe(false);
      expect(await orgs.listWorkspaceIdsOf(tx, org(7))).toEqual([at]);
      const opens = { workspaceId: at, place: { own: 2, all: 0 } };
      const ticket = { hash: 'new ticket', sessionId: id('7'), expiresAt: later, ...opens };
      await tickets.insertTicket(tx, ticket);
      expect(await tickets.findTicket(tx, ticket, now)).toEqual(opens);
      expect(await tickets.findTicket(tx, { ...ticket, sessionId: id('8') }, now)).toBeNull();
      expect(await tickets.removeTicket(tx, ticket.hash)).toBe(true);
      await tickets.forgetTickets(tx, new Date(0));
      await hints.forgetHints(tx, new Date(0));
    });
  });
  expect(plans.length).toBeGreaterThan(15);
  expect(await filled.findGrowing(plans, { rows: 20, pages: 200 })).toEqual([]);
});

/** Adds a stop beside many old ones with the same workspace and scope. */
async function giveStop(tx: Tx): Promise<void> {
  const epoch = await stops.lockScope(tx, { scope, workspaceId });
  expect(await stops.findLatestCommand(tx, scope)).toMatchObject({ epoch, state: 'effective' });
  const terms = { kind: 'freeze', reason: 'a leak', callLimit: null, windowSeconds: null, expiresAt: null } as const;
  const values = {
    id: newCommandId(),
    decisionId: null,
    receiptId: null,
    scope,
    workspaceId,
    epoch: epoch + 1,
    givenBy: person(7),
    givenAt: now,
    planId: null,
    incidentId: null,
  };
  const command = await stops.insertCommand(tx, { ...terms, ...values });
  await stops.raiseEpoch(tx, command, epoch + 2);
  expect(await stops.listUndelivered(tx, scope, 100)).toHaveLength(1);
  expect(await stops.listUnconfirmed(tx, workspaceId, 100)).toHaveLength(1);
  expect((await stops.listUndeliveredScopes(tx, { after: '', limit: 100 })).scopes).toEqual([scope]);
  expect(await stops.endDelivery(tx, command, { state: 'effective', effectiveAt: now })).toBe(true);
  expect(await stops.endDelivery(tx, command, { state: 'outdated', effectiveAt: null })).toBe(false);
  expect(await stops.getCommand(tx, command.id)).toMatchObject({ epoch: epoch + 2, state: 'effective' });
}

/** Inserts and approves a plan, and removes old plans. */
async function drawPlan(tx: Tx): Promise<void> {
  const hash = Digest.parse(`sha256:${'0'.repeat(64)}`);
  const target = OpsTarget.parse('agent:x');
  const dryRun = BlastRadius.parse({
    ...{ type: 'countersign.blast-radius.v1', tenant_id: workspaceId, steps: [{ kind: 'freeze', target }] },
    ...{ tree_size: 0, root_hash: null, from: null, receipts: 0, is_whole: true, unverifiable: 0 },
    affected: {
      ...{
        agents: [],
        sessions: [],
        runs: [],
        tools: [],
        connectors: [],
        approvals: [],
        dispatches: [],
        relations: [],
      },
    },
    ...{ more_relations: false, denials: { count: 0, first: [] }, reversibility: 'whole', radius_hash: hash },
  });
  const steps = [{ kind: 'freeze' as const, target, reason: 'a leak' }];
  const planId = PlanId.parse(`pln_${'Z'.repeat(26)}`);
  const about = { id: planId, workspaceId, incidentId: null, planHash: hash, askedBy: person(7) };
  await plans.insertPlan(tx, { ...about, steps, dryRun, createdAt: now, expiresAt: later });
  expect(await plans.findPlan(tx, workspaceId, planId)).toMatchObject({ state: 'draft' });
  const plan = await plans.lockPlan(tx, planId);
  expect(await plans.movePlan(tx, plan, { to: 'approved' })).toBe(true);
  expect(await plans.movePlan(tx, plan, { to: 'approved' })).toBe(false);
  expect(await stops.listCommandsOf(tx, plan)).toEqual([]);
  await plans.forgetPlans(tx, new Date(0));
}

async function shutProof(tx: Tx): Promise<void> {
  expect(await proofs.lockPublicProof(tx, workspaceId, now)).toBe('published');
  await proofs.writePublicProof(tx, { workspaceId, setting: 'off' }, now);
  expect(await proofs.lockPublicProof(tx, workspaceId, now)).toBe('off');
  expect(await handles.findPublished(tx, { kind: 'receipt', name: handle(8), now })).toBeNull();
}

async function findHandles(): Promise<void> {
  const { reader } = database;
  const mine = { id: handle(7), workspaceId, now };
  expect(await handles.findHandle(reader, mine)).toMatchObject({ id: handle(7) });
  for (const name of [handle(7), shownReceipt.receipt_id])
    expect(await handles.findPublished(reader, { kind: 'receipt', name, now })).toMatchObject({ kind: 'receipt' });
  expect(await handles.findPublished(reader, { kind: 'approval', name: handle(7), now })).toBeNull();
  const first = await handles.listHandles(reader, { workspaceId, now, limit: 8 });
  const cursor = first.nextCursor ?? undefined;
  expect((await handles.listHandles(reader, { workspaceId, now, limit: 8, cursor })).handles).toHaveLength(8);
}

function handle(n: number): HandleId {
  return HandleId.parse(`hdl_${String(n).padStart(22, '0')}`);
}

function id(end: string): SignInId {
  return SignInId.parse(`ses_${end.padStart(26, '0')}`);
}

function org(n: number): OrgId {
  return OrgId.parse(`org_${String(n).padStart(26, '0')}`);
}

function workspace(n: number): WorkspaceId {
  return WorkspaceId.parse(`wsp_${String(n).padStart(26, '0')}`);
}

function person(n: number): UserId {
  return UserId.parse(`usr_${String(n).padStart(26, '0')}`);
}

async function answerKeyed(): Promise<void> {
  const claim = { scope: 'scope', key: '7', fingerprint: 'x', begunAt: now };
  const fresh = { ...claim, key: 'new' };
  await database.transaction(async (tx) => {
    expect((await answerKeys.beginClaim(tx, claim)).kind).toBe('replay');
    expect(await answerKeys.beginClaim(tx, fresh)).toEqual({ kind: 'run' });
    const answer = { status: 200, headers: {}, text: '{}' };
    expect(await answerKeys.keepAnswer(tx, fresh, { answer, state: 'running' })).toBe(true);
    await answerKeys.freeClaim(tx, fresh, 'done');
    await answerKeys.forgetAnswers(tx, now);
  });
}

function fillSql(): string {
  const one = `generate_series(1, ${rows}) AS n`;
  const session = `'ses_' || lpad(n::text, 26, '0')`;
  return `
    INSERT INTO logins (id_hash, email, created_at, expires_at) SELECT 'login-' || n, n || '@example.org', now(), now() + interval '10 minutes' FROM ${one};
    INSERT INTO sessions SELECT ${session}, 'usr_' || lpad(n::text, 26, '0'), '{code}', now(), now(), now() + interval '30 days' FROM ${one};
    INSERT INTO access_tokens SELECT 'access-' || n, ${session}, now() + interval '15 minutes' FROM ${one};
    INSERT INTO refresh_tokens SELECT 'refresh-' || n, ${session}, now() FROM ${one};
    INSERT INTO orgs SELECT 'org_' || lpad(n::text, 26, '0'), 'name', 'usr_' || lpad(n::text, 26, '0'), now() FROM ${one};
    INSERT INTO org_workspaces SELECT 'wsp_' || lpad(n::text, 26, '0'), 'org_' || lpad(n::text, 26, '0'), now(), now() FROM ${one};
    INSERT INTO public_proofs SELECT 'wsp_' || lpad(n::text, 26, '0'), 'off', now() FROM ${one};
    INSERT INTO public_proofs VALUES ('${workspaceId}', 'published', now());
    INSERT INTO evidence_handles SELECT 'hdl_' || lpad(n::text, 22, '0'), '${workspaceId}', 'receipt', 'rcp_' || lpad(n::text, 26, '0'), true, '${JSON.stringify(shownReceipt)}', 'rcp_' || lpad(n::text, 26, '0'), 'usr_' || lpad(n::text, 26, '0'), now(), now() + interval '1 day', NULL FROM ${one};
    INSERT INTO audit_entries SELECT 'usr_' || lpad(n::text, 26, '0'), 1, 'aud_' || n, 'x', 'x', 'allow', 'ok', NULL, '{}', NULL, now(), NULL, 'x' FROM ${one};
    INSERT INTO audit_heads SELECT 'usr_' || lpad(n::text, 26, '0'), 1, 'sha256:' || repeat('0', 64) FROM ${one};
    INSERT INTO device_logins SELECT 'device-' || n, 'code-' || n, 'cli', '', NULL, 'member', now(), now() + interval '10 minutes', 5, NULL, 'pending' FROM ${one};
    INSERT INTO stop_scopes SELECT 'agent:${workspaceId}/' || n, '${workspaceId}', 1 FROM ${one};
    INSERT INTO stop_scopes VALUES ('${scope}', '${workspaceId}', ${rows});
    INSERT INTO stop_commands (id, workspace_id, scope, epoch, kind, reason, call_limit, window_seconds, given_by, given_at, expires_at, state, effective_at) SELECT 'cmd_' || lpad(n::text, 26, '0'), '${workspaceId}', '${scope}', n, 'freeze', 'x', NULL, NULL, 'x', now(), NULL, 'effective', now() FROM ${one};
    INSERT INTO plans SELECT 'pln_' || lpad(n::text, 26, '0'), '${workspaceId}', NULL, 'draft', '[]', '{}', 'x', 1, NULL, NULL, NULL, 'x', now(), now() FROM ${one};
    INSERT INTO idempotency_keys SELECT 'scope', n::text, 'x', 'done', 200, '{}', '{}', now() FROM ${one};
    INSERT INTO idempotency_keys VALUES ('scope', 'old', 'x', 'running', NULL, NULL, NULL, now() - interval '2 days');
    INSERT INTO tickets SELECT 'ticket-' || n, ${session}, '${workspaceId}', 0, 0, now() FROM ${one};
    INSERT INTO hint_heads SELECT 'wsp_' || lpad(n::text, 26, '0'), 1 FROM ${one};
    INSERT INTO hints SELECT 'wsp_' || lpad(n::text, 26, '0'), 1, 'run', NULL, NULL, now() FROM ${one};
    INSERT INTO hints SELECT '${workspaceId}', n, 'run', NULL, NULL, now() FROM ${one};
    ANALYZE`;
}
