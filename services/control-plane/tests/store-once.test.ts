// The store counts only the first of two equal calls. The sweeper removes rows that ended before a time.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PlanId } from '@countersign/contracts';
import { HandleId } from '@countersign/contracts/control-plane';
import { FenceScope } from '@countersign/contracts/governance-kernel';
import * as devices from '../src/store/device-logins.ts';
import * as handles from '../src/store/evidence-handles.ts';
import * as hints from '../src/store/hints.ts';
import * as hours from '../src/store/shadow-hours.ts';
import * as identities from '../src/store/provider-identities.ts';
import * as incidents from '../src/store/incidents.ts';
import * as logins from '../src/store/logins.ts';
import * as orgs from '../src/store/orgs.ts';
import * as passkeys from '../src/store/passkeys.ts';
import * as plans from '../src/store/plans.ts';
import * as sessions from '../src/store/sessions.ts';
import * as sightings from '../src/store/incident-sightings.ts';
import * as stops from '../src/store/stops.ts';
import * as tickets from '../src/store/tickets.ts';
import type { Tx } from '../src/store/database.ts';
import { ada, workspaceId } from './_listed.ts';
import {
  decided,
  sessionId,
  hash,
  session,
  program,
  tokens,
  login,
  device,
  stored,
  ticket,
  passkey,
  identity,
  org,
  sighting,
  incident,
} from './_sign-in-rows.ts';
import { at, now, numbered, openUndone } from './_undone.ts';

let opened: Awaited<ReturnType<typeof openUndone>>;
beforeAll(async () => {
  opened = await openUndone();
});
afterAll(() => opened?.close());

const handleId = HandleId.parse(`hdl_${'A'.repeat(22)}`);

async function insertHandle(tx: Tx, changed: object = {}): Promise<void> {
  await tx.publicProof.createMany({
    data: { workspaceId, setting: 'published', updatedAt: now },
    skipDuplicates: true,
  });
  const row = {
    workspaceId,
    kind: 'approval',
    objectId: numbered('apr', 1),
    isPublic: true,
    shown: {},
    createdBy: ada,
  };
  const times = { createdAt: now, expiresAt: at(5) };
  await tx.evidenceHandle.create({
    data: { ...row, ...times, id: handleId, receiptId: numbered('rcp', 1), ...changed },
  });
}

const scope = FenceScope.parse(`agent:${workspaceId}/heidi`);
const command = { id: numbered('cmd', 1), workspaceId, scope, epoch: 1, kind: 'freeze', reason: 'x', givenBy: ada };

type Step = (tx: Tx) => Promise<unknown>;
type Once = { before?: Step; act: Step; answers: readonly unknown[] };
const plan = { id: PlanId.parse(numbered('pln', 1)), state: 'draft', attempt: 1 } as plans.StoredPlan; // no more is read

const planRow = {
  ...{ workspaceId, state: 'draft', steps: '[]', dryRun: '{}', planHash: hash, askedBy: ada, createdAt: now },
  ...{ id: plan.id as string, expiresAt: at(5) },
};

/** Calls that count once, with the result of each of two calls. */
const onces: Record<string, Once> = {
  insertPasskey: { act: (tx) => passkeys.insertPasskey(tx, passkey), answers: [true, false] },
  removePasskey: {
    before: (tx) => passkeys.insertPasskey(tx, passkey),
    act: (tx) => passkeys.removePasskey(tx, { ...passkey, signedInAt: null }),
    answers: [true, false],
  },
  insertProviderIdentity: { act: (tx) => identities.insertProviderIdentity(tx, identity), answers: [true, false] },
  insertOrg: { act: (tx) => orgs.insertOrg(tx, org, now), answers: [true, false] },
  insertOrgWorkspace: {
    before: (tx) => orgs.insertOrg(tx, org, now),
    act: (tx) => orgs.insertOrgWorkspace(tx, { workspaceId, orgId: org.id }, now),
    answers: [true, false],
  },
  recordSighting: { act: (tx) => sightings.recordSighting(tx, workspaceId, sighting, now), answers: [true, false] },
  insertIncident: { act: (tx) => incidents.insertIncident(tx, incident), answers: [true, false] },
  noteMembers: { act: (tx) => hints.noteMembers(tx, workspaceId, 1), answers: [true, false] },
  removeTicket: {
    before: (tx) => tickets.insertTicket(tx, ticket),
    act: (tx) => tickets.removeTicket(tx, ticket.hash),
    answers: [true, false],
  },
  finishLogin: {
    before: (tx) => logins.insertLogin(tx, login),
    act: (tx) => logins.finishLogin(tx, { idHash: login.idHash, userId: ada }, now),
    answers: [true, false],
  },
  removeRefusedLogin: {
    before: async (tx) => {
      await logins.insertLogin(tx, login);
      await logins.countRefusal(tx, login.idHash);
    },
    act: (tx) => logins.removeRefusedLogin(tx, { idHash: login.idHash, userId: ada, refused: 1, createdAt: now }),
    answers: [true, false],
  },
  'removeRefusedLogin after newer refusals': {
    before: (tx) => logins.insertLogin(tx, login),
    act: (tx) => logins.removeRefusedLogin(tx, { idHash: login.idHash, userId: ada, refused: 1, createdAt: now }),
    answers: [false, false],
  },
  answerDeviceLogin: {
    before: (tx) => devices.insertDeviceLogin(tx, device),
    act: (tx) => devices.answerDeviceLogin(tx, stored, { state: 'denied', userId: ada, sessionId, now }),
    answers: [true, false],
  },
  'answerDeviceLogin of an ended login': {
    before: (tx) => devices.insertDeviceLogin(tx, { ...device, expiresAt: now }),
    act: (tx) => devices.answerDeviceLogin(tx, stored, { state: 'denied', userId: ada, sessionId, now }),
    answers: [false, false],
  },
  endSession: {
    before: (tx) => sessions.insertSession(tx, session),
    act: (tx) => sessions.endSession(tx, session, { now, reason: 'signed_out' }),
    answers: [true, false],
  },
  'markProven of an ended session': {
    before: async (tx) => {
      await sessions.insertSession(tx, session);
      await sessions.insertSession(tx, program);
      await sessions.endSession(tx, program, { now, reason: 'signed_out' });
    },
    act: async (tx) => [
      await sessions.markProven(tx, { id: session.id, methods: ['passkey'] }, now),
      await sessions.markProven(tx, { id: program.id, methods: ['passkey'] }, now),
    ],
    answers: [
      [true, false],
      [true, false],
    ],
  },
  revokeHandle: {
    before: insertHandle,
    act: (tx) => handles.revokeHandle(tx, handleId, now),
    answers: [true, false],
  },
  endDelivery: {
    before: (tx) => tx.stopCommand.create({ data: { ...command, givenAt: now, state: 'unconfirmed' } }),
    act: (tx) => stops.endDelivery(tx, { id: command.id as never }, { state: 'effective', effectiveAt: now }),
    answers: [true, false],
  },
  movePlan: {
    before: (tx) => tx.plan.create({ data: planRow }),
    act: (tx) => plans.movePlan(tx, plan, { to: 'committed', decided, committed: { by: ada, at: now } }),
    answers: [true, false],
  },
  'movePlan back to draft for a new decision': {
    before: (tx) => tx.plan.create({ data: planRow }),
    act: async (tx) => {
      await plans.movePlan(tx, plan, { to: 'draft', isAskedAnew: true });
      return (await tx.plan.findUniqueOrThrow({ where: { id: plan.id } })).attempt;
    },
    answers: [2, 2],
  },
};

type Forget = { fill(tx: Tx, endedAt: Date): Promise<unknown>; forget: Step; count: Step };
const counted = { workspaceId, lane: 'a', policyHash: hash, decisions: 1, diverged: 0, widened: 0, faults: 0 };

/** The rows that the sweeper removes. `fill` inserts a row that ended at the given time. */
const forgets: Record<string, Forget> = {
  tickets: {
    fill: (tx, expiresAt) => tickets.insertTicket(tx, { ...ticket, expiresAt }),
    ...{ forget: (tx) => tickets.forgetTickets(tx, now), count: (tx) => tx.ticket.count() },
  },
  logins: {
    fill: (tx, expiresAt) => logins.insertLogin(tx, { ...login, expiresAt }),
    ...{ forget: (tx) => logins.forgetLogins(tx, now), count: (tx) => tx.login.count() },
  },
  'device logins': {
    fill: (tx, expiresAt) => devices.insertDeviceLogin(tx, { ...device, expiresAt }),
    ...{ forget: (tx) => devices.forgetDeviceLogins(tx, now), count: (tx) => tx.deviceLogin.count() },
  },
  sessions: {
    fill: (tx, expiresAt) => sessions.insertSession(tx, { ...session, expiresAt }),
    ...{ forget: (tx) => sessions.forgetSessions(tx, now), count: (tx) => tx.session.count() },
  },
  'spent refresh tokens': {
    fill: async (tx, spentAt) => {
      await sessions.insertSession(tx, session);
      await sessions.insertTokens(tx, { ...tokens, sessionId });
      await tx.refreshToken.updateMany({ data: { spentAt } });
    },
    ...{ forget: (tx) => sessions.forgetSessions(tx, now), count: (tx) => tx.refreshToken.count() },
  },
  hours: {
    fill: (tx, hour) => tx.shadowHour.create({ data: { ...counted, hour } }),
    ...{ forget: (tx) => hours.forgetHours(tx, now), count: (tx) => tx.shadowHour.count() },
  },
  hints: {
    fill: (tx, createdAt) => hints.recordHint(tx, workspaceId, { type: 'policy', ref: null, version: null }, createdAt),
    ...{ forget: (tx) => hints.forgetHints(tx, now), count: (tx) => tx.hint.count() },
  },
  plans: {
    fill: (tx, expiresAt) => tx.plan.create({ data: { ...planRow, expiresAt } }),
    ...{ forget: (tx) => plans.forgetPlans(tx, now), count: (tx) => tx.plan.count() },
  },
  sightings: {
    fill: (tx, seenAt) => sightings.recordSighting(tx, workspaceId, sighting, seenAt),
    ...{ forget: (tx) => sightings.forgetSightings(tx, now), count: (tx) => tx.incidentSighting.count() },
  },
  handles: {
    fill: (tx, expiresAt) => insertHandle(tx, { expiresAt }),
    ...{ forget: (tx) => handles.forgetHandles(tx, now), count: (tx) => tx.evidenceHandle.count() },
  },
};

describe('the store', () => {
  it.each(Object.entries(onces))('counts only the first of two calls: %s', async (_name, { before, act, answers }) => {
    const returned = await opened.undone(async (tx) => {
      await before?.(tx);
      return [await act(tx), await act(tx)];
    });
    expect(returned).toEqual(answers);
  });

  it.each(Object.entries(forgets))(
    'removes rows that ended before the given time: %s',
    async (_name, { fill, forget, count }) => {
      const remaining = (endedAt: Date) =>
        opened.undone(async (tx) => {
          await fill(tx, endedAt);
          await forget(tx);
          return await count(tx);
        });
      expect([await remaining(at(-1)), await remaining(now)]).toEqual([0, 1]);
    },
  );
});
