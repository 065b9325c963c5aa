import { CommandId, IncidentId, PlanId } from '@countersign/contracts';
import { OpsTarget } from '@countersign/contracts/control-plane';
import { FenceScope } from '@countersign/contracts/governance-kernel';
import { recordAudit } from '../src/store/audit.ts';
import * as entries from '../src/store/incident-entries.ts';
import * as hints from '../src/store/hints.ts';
import * as incidents from '../src/store/incidents.ts';
import * as stops from '../src/store/stops.ts';
import type { Tx } from '../src/store/database.ts';
import { ada, beside, describeLists, ids, idsOf, workspaceId, type List } from './_listed.ts';
import { at, now, numbered } from './_undone.ts';

const scopeOf = (agent: string): FenceScope => FenceScope.parse(`agent:${workspaceId}/${agent}`);

const incidentId = IncidentId.parse(numbered('inc', 1));
const target = OpsTarget.parse('agent:heidi');
const planId = PlanId.parse(numbered('pln', 1));
const command = { workspaceId, scope: scopeOf('heidi'), kind: 'freeze', reason: 'x', givenBy: ada, givenAt: at(-1) };
type Changed = { id: number; scope?: string } & Record<string, unknown>;
/** Commands of one agent, with their numbers as epochs unless a row differs. */
const commandsOf = (rows: readonly Changed[]) => (tx: Tx) =>
  tx.stopCommand.createMany({
    data: rows.map(({ id, ...row }) => ({
      ...command,
      epoch: id,
      state: 'unconfirmed',
      ...row,
      id: numbered('cmd', id),
    })),
  });
const effective = { state: 'effective', effectiveAt: now };
const fillStops = commandsOf([
  { id: 2, incidentId, planId },
  { id: 3, incidentId, planId },
  { id: 1, incidentId, planId },
  { id: 4, ...effective },
  { id: 5, scope: scopeOf('ivan'), workspaceId: beside, state: 'outdated' },
]);

const stopLists: Record<string, List> = {
  'listUndelivered commands': {
    fill: fillStops,
    list: async (tx, limit) => idsOf(await stops.listUndelivered(tx, command.scope, limit)),
    listed: ids('cmd', 1, 2, 3),
  },
  'listUnconfirmed commands': {
    fill: fillStops,
    list: async (tx, limit) => idsOf(await stops.listUnconfirmed(tx, workspaceId, limit)),
    listed: ids('cmd', 1, 2, 3),
  },
  countUnconfirmed: {
    fill: fillStops,
    list: async (tx) => [await stops.countUnconfirmed(tx, workspaceId), await stops.countUnconfirmed(tx, beside)],
    ...{ listed: [3, 0], isUnlimited: true },
  },
  listCommandsOf: {
    fill: fillStops,
    list: async (tx) => idsOf(await stops.listCommandsOf(tx, { id: planId })),
    ...{ listed: ids('cmd', 1, 2, 3), isUnlimited: true },
  },
  listCommandsFor: {
    fill: fillStops,
    list: async (tx, limit) => idsOf(await stops.listCommandsFor(tx, incidentId, limit)),
    listed: ids('cmd', 3, 2, 1),
  },
  findLatestCommand: {
    fill: fillStops,
    list: async (tx) => [
      (await stops.findLatestCommand(tx, command.scope))?.id,
      await stops.findLatestCommand(tx, scopeOf('judy')),
    ],
    ...{ listed: [numbered('cmd', 4), null], isUnlimited: true },
  },
  listScopes: {
    fill: (tx) =>
      tx.stopScope.createMany({
        data: ['b', 'c', 'a'].map((agent) => ({ scope: scopeOf(agent), workspaceId, epoch: 1 })),
      }),
    list: (tx, limit) => stops.listScopes(tx, workspaceId, limit),
    listed: ['a', 'b', 'c'].map(scopeOf),
  },
  listOverdue: {
    fill: async (tx) => {
      const seen = { workspaceId, dedupKey: 'key', seenAt: now };
      await tx.incidentSighting.createMany({
        data: [
          { ...seen, sighting: numbered('cmd', 6) },
          { ...seen, sighting: numbered('cmd', 1), dedupKey: 'other' },
          { ...seen, sighting: numbered('cmd', 2), workspaceId: beside },
        ],
      });
      await commandsOf([
        { id: 2, givenAt: at(-2) },
        { id: 3, givenAt: at(-1) },
        { id: 1, givenAt: at(-3) },
        { id: 4, givenAt: now },
        { id: 5, givenAt: at(-4), ...effective },
        { id: 6, givenAt: at(-4) },
      ])(tx);
    },
    list: async (tx, limit) => idsOf(await stops.listOverdue(tx, { before: now, dedupKey: 'key', limit })),
    listed: ids('cmd', 1, 2, 3),
  },
  listStandingFor: {
    fill: commandsOf([
      { id: 1, scope: scopeOf('a'), incidentId, epoch: 1, ...effective },
      { id: 2, scope: scopeOf('a'), incidentId, epoch: 2, expiresAt: at(1) },
      { id: 3, scope: scopeOf('b'), incidentId, epoch: 1, ...effective },
      { id: 4, scope: scopeOf('b'), epoch: 2 },
      { id: 5, scope: scopeOf('c'), incidentId, epoch: 1, ...effective },
      { id: 6, scope: scopeOf('c'), epoch: 2, ...effective },
      { id: 7, scope: scopeOf('d'), incidentId, expiresAt: now },
      { id: 8, scope: scopeOf('e'), incidentId, state: 'refused' },
      { id: 9, scope: scopeOf('f'), incidentId: numbered('inc', 2) },
      { id: 10, scope: scopeOf('g'), incidentId, kind: 'open', decisionId: numbered('dec', 1), receiptId: 'rcp_1' },
    ]),
    list: async (tx) => idsOf(await stops.listStandingFor(tx, incidentId, now)),
    ...{ listed: ids('cmd', 2, 3), isUnlimited: true },
  },
  listUndeliveredScopes: {
    fill: commandsOf([
      { id: 1, scope: scopeOf('c') },
      { id: 2, scope: scopeOf('b') },
      { id: 3, scope: scopeOf('a') },
      { id: 4, scope: scopeOf('b') },
      { id: 5, scope: scopeOf('d'), ...effective },
    ]),
    list: async (tx) => [
      await stops.listUndeliveredScopes(tx, { after: scopeOf('a'), limit: 3 }),
      await stops.listUndeliveredScopes(tx, { after: scopeOf('a'), limit: 4 }),
      await stops.listUndeliveredScopes(tx, { after: '', limit: 1 }),
    ],
    listed: [
      { scopes: [scopeOf('b'), scopeOf('c')], mayBeMore: true },
      { scopes: [scopeOf('b'), scopeOf('c')], mayBeMore: false },
      { scopes: [scopeOf('a')], mayBeMore: true },
    ],
    isUnlimited: true,
  },
};

const incident = {
  ...{ workspaceId, title: 'x', severity: 'low', category: 'other', receipts: [], state: 'open' },
  ...{ openedAt: now, lastSeenAt: now, updatedAt: now },
};
const fillIncidents = async (tx: Tx) => {
  await tx.incident.createMany({
    data: [
      { ...incident, id: numbered('inc', 2), dedupKey: 'b' },
      { ...incident, id: numbered('inc', 3), dedupKey: 'c' },
      { ...incident, id: numbered('inc', 1), dedupKey: 'a' },
      { ...incident, id: numbered('inc', 4), dedupKey: 'a', state: 'closed', owner: ada },
    ],
  });
  const entry = { incidentId, kind: 'opened', at: now, note: '' };
  await tx.incidentEntry.createMany({
    data: [
      { ...entry, id: 'ine_2', note: '2' },
      { ...entry, id: 'ine_3', note: '3' },
      { ...entry, id: 'ine_1', note: '1' },
      { ...entry, id: 'ine_4', note: '4', incidentId: numbered('inc', 2) },
    ],
  });
};
const fillHints = async (tx: Tx) => {
  for (const seconds of [1, 2, 3, 4])
    await hints.recordHint(tx, workspaceId, { type: 'policy', ref: String(seconds), version: null }, at(seconds));
};

const incidentLists: Record<string, List> = {
  'listIncidents of a state': {
    fill: fillIncidents,
    list: async (tx, limit) =>
      idsOf((await incidents.listIncidents(tx, workspaceId, { state: 'open', limit })).incidents),
    listed: ids('inc', 3, 2, 1),
  },
  'listIncidents page by page': {
    fill: fillIncidents,
    list: async (tx) => {
      const first = await incidents.listIncidents(tx, workspaceId, { limit: 2 });
      const cursor = first.nextCursor ?? 'missing';
      const second = await incidents.listIncidents(tx, workspaceId, { limit: 2, cursor });
      return [idsOf(first.incidents), idsOf(second.incidents), second.nextCursor];
    },
    ...{ listed: [ids('inc', 4, 3), ids('inc', 2, 1), null], isUnlimited: true },
  },
  countOpenIncidents: {
    fill: fillIncidents,
    list: async (tx) => [
      await incidents.countOpenIncidents(tx, workspaceId),
      await incidents.countOpenIncidents(tx, beside),
    ],
    ...{ listed: [3, 0], isUnlimited: true },
  },
  lockUnclosed: {
    fill: fillIncidents,
    list: async (tx) => [
      (await incidents.lockUnclosed(tx, workspaceId, 'a'))?.id,
      await incidents.lockUnclosed(tx, workspaceId, 'd'),
    ],
    ...{ listed: [incidentId, null], isUnlimited: true },
  },
  listTimeline: {
    fill: fillIncidents,
    list: async (tx) => {
      const notes = async (limit: number) =>
        (await entries.listTimeline(tx, incidentId, limit)).map(({ note }) => note);
      return [await notes(9), await notes(2)];
    },
    listed: [
      ['1', '2', '3'],
      ['2', '3'],
    ],
    isUnlimited: true,
  },
  'listTimeline with each kind of entry': {
    fill: async (tx) => {
      await fillIncidents(tx);
      const of = IncidentId.parse(numbered('inc', 3));
      const noted = { by: ada, at: at(1), note: 'x' };
      await entries.recordEntry(tx, of, { ...noted, kind: 'opened', by: null });
      await entries.recordEntry(tx, of, { ...noted, kind: 'seen_again', recurrence: 2 });
      await entries.recordEntry(tx, of, { ...noted, kind: 'moved', from: 'open', to: 'acked', standing: [target] });
      await entries.recordEntry(tx, of, {
        ...noted,
        kind: 'commanded',
        commandId: CommandId.parse(numbered('cmd', 1)),
      });
      await entries.recordEntry(tx, of, { ...noted, kind: 'planned', planId });
    },
    list: (tx) => entries.listTimeline(tx, IncidentId.parse(numbered('inc', 3)), 9),
    listed: [
      { kind: 'opened', by: null },
      { kind: 'seen_again', by: ada, recurrence: 2 },
      { kind: 'moved', by: ada, from: 'open', to: 'acked', standing: [target] },
      { kind: 'commanded', by: ada, command_id: numbered('cmd', 1) },
      { kind: 'planned', by: ada, plan_id: planId },
    ].map((entry) => ({ ...entry, at: at(1).toISOString(), note: 'x' })),
    isUnlimited: true,
  },
  listHints: {
    fill: fillHints,
    list: async (tx) => (await hints.listHints(tx, { scope: workspaceId, after: 1, to: 3 })).map(({ ref }) => ref),
    ...{ listed: ['2', '3'], isUnlimited: true },
  },
  countHints: {
    fill: fillHints,
    list: async (tx) => [await hints.countHints(tx, { scope: workspaceId, since: at(3) })],
    ...{ listed: [2], isUnlimited: true },
  },
  'listHints of audited actions': {
    fill: async (tx) => {
      for (const action of ['incident.open', 'ops.freeze', 'policy.draft', 'key.made'])
        await recordAudit(tx, { scope: workspaceId, actor: ada, action, verdict: 'allow', requestId: 'req_1' }, now);
    },
    list: async (tx) => (await hints.listHints(tx, { scope: workspaceId, after: 0, to: 9 })).map(({ type }) => type),
    ...{ listed: ['incident', 'fence', 'policy', 'audit'], isUnlimited: true },
  },
  findPlace: {
    fill: async (tx) => {
      await fillHints(tx);
      await hints.recordHint(tx, hints.everyWorkspace, { type: 'policy', ref: null, version: null }, now);
    },
    list: async (tx) => [await hints.findPlace(tx, workspaceId), await hints.findPlace(tx, beside)],
    listed: [
      { own: 4, all: 1 },
      { own: 0, all: 1 },
    ],
    isUnlimited: true,
  },
};

describeLists({ ...stopLists, ...incidentLists });
