import { expect } from '@jest/globals';
import { Digest, SignInId, UserId, WhatIfId, WorkspaceId } from '@countersign/contracts';
import { LaneName, OrgId } from '@countersign/contracts/governance-kernel';
import * as activations from '../src/store/policy-activations.ts';
import * as hours from '../src/store/shadow-hours.ts';
import * as identities from '../src/store/provider-identities.ts';
import * as lanes from '../src/store/shadow-lanes.ts';
import * as logins from '../src/store/logins.ts';
import * as orgs from '../src/store/orgs.ts';
import * as passkeys from '../src/store/passkeys.ts';
import * as sessions from '../src/store/sessions.ts';
import * as watched from '../src/store/watched-workspaces.ts';
import type { Tx } from '../src/store/database.ts';
import { ada, beside, describeLists, ids, idsOf, workspaceId, type List } from './_listed.ts';
import { at, now, numbered } from './_undone.ts';

const bob = UserId.parse(numbered('usr', 2));
const hash = Digest.parse(`sha256:${'a'.repeat(64)}`);
const otherHash = Digest.parse(`sha256:${'b'.repeat(64)}`);
const lane = LaneName.parse('stricter');

const session = {
  ...{ userId: ada, methods: ['code'], provenAt: now, createdAt: now, expiresAt: at(1), endedAt: null as Date | null },
  ...{ workspaceId: null as string | null, role: null as string | null, endReason: null as string | null },
};
const inWorkspace = { workspaceId, role: 'member' };
const fillSessions = (tx: Tx) =>
  tx.session.createMany({
    data: [
      { ...session, id: numbered('ses', 2) },
      { ...session, id: numbered('ses', 3) },
      { ...session, id: numbered('ses', 1) },
      { ...session, id: numbered('ses', 4), userId: bob },
      { ...session, id: numbered('ses', 5), endedAt: now, endReason: 'signed_out' },
      { ...session, id: numbered('ses', 6), expiresAt: now },
      { ...session, id: numbered('ses', 8), ...inWorkspace },
      { ...session, id: numbered('ses', 7), ...inWorkspace },
    ],
  });

const signIns: Record<string, List> = {
  'listLiveOf browsers': {
    fill: fillSessions,
    list: async (tx) => idsOf(await sessions.listLiveOf(tx, { userId: ada, kind: 'browser' }, now)),
    ...{ listed: ids('ses', 3, 2, 1), isUnlimited: true },
  },
  'listLiveOf devices': {
    fill: fillSessions,
    list: async (tx) => idsOf(await sessions.listLiveOf(tx, { userId: ada, kind: 'device' }, now)),
    ...{ listed: ids('ses', 8, 7), isUnlimited: true },
  },
  listLiveAmong: {
    fill: fillSessions,
    list: async (tx) => {
      const requests = ids('ses', 1, 5, 6, 8).map((id) => SignInId.parse(id));
      return (await sessions.listLiveAmong(tx, requests, now)).sort();
    },
    ...{ listed: ids('ses', 1, 8), isUnlimited: true },
  },
  listRefusedLogins: {
    fill: (tx) => {
      const over = { email: 'a@example.org', userId: ada, refused: 1, createdAt: now };
      return tx.login.createMany({
        data: [
          { ...over, idHash: 'second', expiresAt: at(-2) },
          { ...over, idHash: 'third', expiresAt: at(-1) },
          { ...over, idHash: 'first', expiresAt: at(-3) },
          { ...over, idHash: 'not-over', expiresAt: now },
          { ...over, idHash: 'clean', expiresAt: at(-2), refused: 0 },
          { ...over, idHash: 'unknown', expiresAt: at(-2), userId: null },
        ],
      });
    },
    list: async (tx, limit) => (await logins.listRefusedLogins(tx, now, limit)).map(({ idHash }) => idHash),
    listed: ['first', 'second', 'third'],
  },
  'listRefusedLogins with each member': {
    fill: (tx) =>
      tx.login.create({
        data: { idHash: 'x', email: 'a@example.org', userId: ada, refused: 2, createdAt: at(-9), expiresAt: at(-1) },
      }),
    list: (tx, limit) => logins.listRefusedLogins(tx, now, limit),
    listed: [expect.objectContaining({ idHash: 'x', userId: ada, refused: 2, createdAt: at(-9) })],
  },
  listPasskeysOf: {
    fill: (tx) => {
      const passkey = { userId: ada, workspaceId };
      return tx.passkey.createMany({
        data: [
          { ...passkey, credentialId: 'b'.repeat(24), enrolledAt: at(2) },
          { ...passkey, credentialId: 'c'.repeat(24), enrolledAt: at(3) },
          { ...passkey, credentialId: 'a'.repeat(24), enrolledAt: at(1) },
          { ...passkey, credentialId: 'd'.repeat(24), enrolledAt: at(4), userId: bob },
        ],
      });
    },
    list: async (tx) => (await passkeys.listPasskeysOf(tx, ada)).map(({ credentialId }) => credentialId.slice(0, 1)),
    ...{ listed: ['c', 'b', 'a'], isUnlimited: true },
  },
  listIdentitiesOf: {
    fill: (tx) => {
      const identity = { issuer: 'https://id.example', userId: ada, connectionId: 'example' };
      return tx.providerIdentity.createMany({
        data: [
          { ...identity, subject: 'second', linkedAt: at(2) },
          { ...identity, subject: 'third', linkedAt: at(3) },
          { ...identity, subject: 'first', linkedAt: at(1) },
          { ...identity, subject: 'other', linkedAt: at(4), userId: bob },
        ],
      });
    },
    list: async (tx) => (await identities.listIdentitiesOf(tx, ada)).map(({ subject }) => subject),
    ...{ listed: ['third', 'second', 'first'], isUnlimited: true },
  },
};

const orgOf = (number: number) => ({ id: OrgId.parse(numbered('org', number)), name: 'x' });
const fillOrgs = async (tx: Tx) => {
  await tx.org.createMany({
    data: [
      { ...orgOf(1), adminId: ada, createdAt: now },
      { ...orgOf(2), adminId: bob, createdAt: now },
    ],
  });
  const owned = { orgId: orgOf(1).id, placedAt: null as Date | null };
  await tx.orgWorkspace.createMany({
    data: [
      { ...owned, workspaceId: numbered('wsp', 1), addedAt: at(2) },
      { ...owned, workspaceId: numbered('wsp', 2), addedAt: at(3) },
      { ...owned, workspaceId: numbered('wsp', 3), addedAt: at(1) },
      { ...owned, workspaceId: numbered('wsp', 4), addedAt: at(0), placedAt: now },
      { ...owned, workspaceId: numbered('wsp', 5), addedAt: at(-1), orgId: orgOf(2).id, placedAt: now },
    ],
  });
};
const lookedAt = (column: 'checkedAt' | 'readAt') => [
  { workspaceId: numbered('wsp', 2), place: 20, [column]: at(-3) },
  { workspaceId: numbered('wsp', 1), place: 10, [column]: at(-1) },
  { workspaceId: numbered('wsp', 3), place: 30, [column]: at(-2) },
  { workspaceId: numbered('wsp', 4), place: 40, [column]: now },
];

const workspacesOf: Record<string, List> = {
  listUnplaced: {
    fill: fillOrgs,
    list: async (tx, limit) => (await orgs.listUnplaced(tx, limit)).map((owned) => owned.workspaceId),
    listed: ids('wsp', 3, 1, 2),
  },
  listWorkspaceIdsOf: {
    fill: fillOrgs,
    list: async (tx) => (await orgs.listWorkspaceIdsOf(tx, orgOf(1).id)).sort(),
    ...{ listed: ids('wsp', 1, 2, 3, 4), isUnlimited: true },
  },
  findFirstWorkspace: {
    fill: fillOrgs,
    list: async (tx) => [
      await orgs.findFirstWorkspace(tx, orgOf(1).id),
      await orgs.findFirstWorkspace(tx, orgOf(3).id),
    ],
    listed: [{ workspaceId: numbered('wsp', 4), orgId: orgOf(1).id, isPlaced: true }, null],
    isUnlimited: true,
  },
  findOrgIds: {
    fill: fillOrgs,
    list: async (tx) => [...(await orgs.findOrgIds(tx, [workspaceId, WorkspaceId.parse(numbered('wsp', 9))]))],
    ...{ listed: [[workspaceId, orgOf(1).id]], isUnlimited: true },
  },
  listWatched: {
    fill: (tx) => tx.watchedWorkspace.createMany({ data: lookedAt('checkedAt') as never }),
    list: (tx, limit) => watched.listWatched(tx, { after: numbered('wsp', 1), limit }),
    listed: ids('wsp', 2, 3, 4),
  },
  claimUnchecked: {
    fill: (tx) => tx.watchedWorkspace.createMany({ data: lookedAt('checkedAt') as never }),
    list: async (tx, limit) => {
      const claimed: unknown[] = [];
      for (let count = 0; count < limit; count += 1)
        claimed.push(...(await watched.claimUnchecked(tx, { before: now, now, limit: 1 })));
      return claimed;
    },
    listed: [2, 3, 1].map((number) => ({ workspaceId: numbered('wsp', number), place: number * 10 })),
  },
  listReadings: {
    fill: (tx) => tx.shadowReading.createMany({ data: lookedAt('readAt') as never }),
    list: (tx, limit) => hours.listReadings(tx, now, limit),
    listed: [2, 3, 1].map((number) => ({ workspaceId: numbered('wsp', number), place: number * 10 })),
  },
};

const reportId = WhatIfId.parse(numbered('wif', 1));
const activation = {
  ...{ workspaceId, policyHash: hash, reportId, reportHash: hash, baseHash: hash, epoch: 1, askedBy: ada },
  ...{ decisionId: numbered('dec', 1), decisionReceiptId: numbered('rcp', 1), createdAt: at(1) },
};
const activationsOf =
  (rows: readonly ({ id: number; state: string; epoch?: number } & Record<string, unknown>)[]) => (tx: Tx) =>
    tx.policyActivation.createMany({
      data: rows.map(({ id, ...row }) => ({ ...activation, epoch: id, ...row, id: numbered('pac', id) })),
    });
const laneRow = { workspaceId, lane, policyHash: hash, bundle: '{}', version: 1, state: 'standing', setBy: ada };
const fillLanes = (tx: Tx) =>
  tx.shadowLane.createMany({
    data: [
      { ...laneRow, lane: 'b', setAt: now, deliverAt: at(-1) },
      { ...laneRow, lane: 'c', setAt: now, deliverAt: at(0) },
      { ...laneRow, lane: 'a', setAt: now, deliverAt: at(-2) },
      { ...laneRow, lane: 'd', setAt: now, deliverAt: at(1) },
    ],
  });

const policies: Record<string, List> = {
  listUnnoted: {
    fill: activationsOf([
      { id: 1, state: 'decided', createdAt: at(2) },
      { id: 2, state: 'decided', createdAt: at(3) },
      { id: 3, state: 'decided', createdAt: at(1) },
      { id: 4, state: 'decided', createdAt: at(0) },
      { id: 5, state: 'decided', createdAt: at(4) },
      { id: 6, state: 'deciding', createdAt: at(2) },
      { id: 7, state: 'active', createdAt: at(2), confirmedAt: now },
    ]),
    list: async (tx, limit) => idsOf(await activations.listUnnoted(tx, { from: at(1), to: at(4), limit })),
    listed: ids('pac', 2, 1, 3),
  },
  'listUnconfirmed activations': {
    fill: activationsOf([
      { id: 1, state: 'active', workspaceId: numbered('wsp', 1), confirmedAt: at(-2) },
      { id: 2, state: 'active', workspaceId: numbered('wsp', 2), confirmedAt: at(-1) },
      { id: 3, state: 'active', workspaceId: numbered('wsp', 3), confirmedAt: at(-3) },
      { id: 4, state: 'active', workspaceId: numbered('wsp', 4), confirmedAt: now },
      { id: 5, state: 'replaced', confirmedAt: at(-2) },
    ]),
    list: async (tx, limit) => idsOf(await activations.listUnconfirmed(tx, now, limit)),
    listed: ids('pac', 3, 1, 2),
  },
  findInterrupted: {
    fill: activationsOf([
      { id: 1, state: 'deciding', epoch: 1 },
      { id: 2, state: 'decided', epoch: 2 },
      { id: 3, state: 'active', epoch: 3, confirmedAt: now },
      { id: 4, state: 'decided', epoch: 4, policyHash: otherHash },
      { id: 5, state: 'decided', epoch: 5, reportId: numbered('wif', 2) },
      { id: 6, state: 'replaced', epoch: 6 },
    ]),
    list: async (tx) => {
      const found: unknown[] = [];
      for (const epoch of [1, 2, 3, 4, 5, 6])
        found.push((await activations.findInterrupted(tx, { workspaceId, policyHash: hash, reportId, epoch }))?.id);
      return found;
    },
    listed: [undefined, ...ids('pac', 2, 3), undefined, undefined, undefined],
    isUnlimited: true,
  },
  findActive: {
    fill: activationsOf([
      { id: 1, state: 'replaced', confirmedAt: now },
      { id: 2, state: 'active', confirmedAt: now },
      { id: 3, state: 'decided' },
    ]),
    list: async (tx) => [await activations.findActive(tx, workspaceId), await activations.findActive(tx, beside)],
    listed: [expect.objectContaining({ id: numbered('pac', 2) }), null],
    isUnlimited: true,
  },
  listVersions: {
    fill: activationsOf([
      { id: 1, state: 'replaced', epoch: 1, confirmedAt: now },
      { id: 2, state: 'decided', epoch: 2 },
      { id: 3, state: 'replaced', epoch: 3, confirmedAt: now },
      { id: 4, state: 'deciding', epoch: 4 },
      { id: 5, state: 'active', epoch: 5, confirmedAt: now },
      { id: 6, state: 'active', epoch: 4, workspaceId: beside, confirmedAt: now },
      { id: 7, state: 'replaced', epoch: 6, confirmedAt: now },
    ]),
    list: async (tx, limit) =>
      (await activations.listVersions(tx, workspaceId, { limit, below: 6 })).map(({ epoch, state }) => [epoch, state]),
    listed: [
      [5, 'active'],
      [3, 'replaced'],
      [1, 'replaced'],
    ],
  },
  findVersion: {
    fill: activationsOf([
      { id: 1, state: 'replaced', epoch: 1, confirmedAt: now },
      { id: 2, state: 'decided', epoch: 2 },
      { id: 3, state: 'active', epoch: 3, workspaceId: beside, confirmedAt: now },
    ]),
    list: (tx) => Promise.all([1, 2, 3].map((epoch) => activations.findVersion(tx, workspaceId, epoch))),
    listed: [expect.objectContaining({ epoch: 1, state: 'replaced' }), null, null],
    isUnlimited: true,
  },
  'listUndelivered lanes': {
    fill: fillLanes,
    list: async (tx, limit) => (await lanes.listUndelivered(tx, now, limit)).map((each) => each.lane),
    listed: ['a', 'b', 'c'],
  },
  listLanes: {
    fill: fillLanes,
    list: async (tx) => (await lanes.listLanes(tx, workspaceId)).map((each) => each.lane),
    ...{ listed: ['a', 'b', 'c', 'd'], isUnlimited: true },
  },
  listHours: {
    fill: (tx) => {
      const counted = { workspaceId, lane, policyHash: hash, decisions: 1, diverged: 0, widened: 0, faults: 0 };
      return tx.shadowHour.createMany({
        data: [
          { ...counted, hour: at(3) },
          { ...counted, hour: at(4) },
          { ...counted, hour: at(2) },
          { ...counted, hour: at(1) },
          { ...counted, hour: at(5), lane: 'looser' },
          { ...counted, hour: at(6), policyHash: otherHash },
        ],
      });
    },
    list: async (tx) =>
      (await hours.listHours(tx, { workspaceId, lane, policyHash: hash }, at(2))).map(({ hour }) => hour),
    ...{ listed: [at(4), at(3), at(2)], isUnlimited: true },
  },
};

describeLists({ ...signIns, ...workspacesOf, ...policies });
