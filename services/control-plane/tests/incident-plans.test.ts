import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { IncidentId, UserId, WorkspaceId } from '@countersign/contracts';
import { FenceScope } from '@countersign/contracts/governance-kernel';
import { newCommandId, newIncidentId } from '../src/ids.ts';
import type { ControlPlaneDatabase } from '../src/store/database.ts';
import * as beats from '../src/store/heartbeats.ts';
import * as entries from '../src/store/incident-entries.ts';
import * as incidents from '../src/store/incidents.ts';
import * as activations from '../src/store/policy-activations.ts';
import * as plans from '../src/store/plans.ts';
import * as sightings from '../src/store/incident-sightings.ts';
import * as stops from '../src/store/stops.ts';
import * as watched from '../src/store/watched-workspaces.ts';
import { FilledDatabase } from './_filled-database.ts';

/** The rows of each paged list: very many, since the cost of a page must not depend on their number. */
const rows = 1_000_000;
const others = 20_000;
const now = new Date();
const workspaceId = WorkspaceId.parse(`wsp_${'7'.padStart(26, '0')}`);
const userId = UserId.parse(`usr_${'7'.padStart(26, '0')}`);
const id = IncidentId.parse(`inc_${'7'.padStart(26, '0')}`);
let filled: FilledDatabase;
let database: ControlPlaneDatabase;

beforeAll(async () => {
  filled = await FilledDatabase.open(fillSql());
  database = filled.opened;
});

afterAll(() => filled?.close());

it('a list of incidents reads only its page of a million', async () => {
  const { reader } = database;
  const recorded = await filled.during(async () => {
    for (const state of [undefined, 'open', 'closed'] as const) {
      const first = await incidents.listIncidents(reader, workspaceId, { state, limit: 50 });
      expect(first.incidents).toHaveLength(50);
      const cursor = first.nextCursor ?? undefined;
      expect((await incidents.listIncidents(reader, workspaceId, { state, limit: 50, cursor })).incidents).toHaveLength(
        50,
      );
    }
  });
  expect(await filled.findGrowing(recorded, { rows: 60, pages: 200 })).toEqual([]);
});

it('with many incidents, commands and workspaces, a statement reads only the rows that it returns', async () => {
  const { reader } = database;
  const recorded = await filled.during(async () => {
    expect(await incidents.findIncident(reader, workspaceId, id)).toMatchObject({ id, dedupKey: 'key-7' });
    expect(await entries.listTimeline(reader, id, 500)).toHaveLength(1);
    expect(await stops.listCommandsFor(reader, id, 100)).toHaveLength(1);
    expect(await stops.listStandingFor(reader, id, now)).toHaveLength(1);
    expect(await plans.listPlansFor(reader, id, 20)).toEqual([]);
    expect(await stops.listScopes(reader, workspaceId, 10)).toHaveLength(10);
    expect(await activations.findActive(reader, workspaceId)).toBeNull();
    expect(await watched.listWatched(reader, { after: workspaceId, limit: 10 })).toHaveLength(10);
    const seen = { dedupKey: 'key', sighting: 'x' };
    expect(await sightings.findSighted(reader, [workspaceId], seen)).toEqual(new Set([workspaceId]));
    await database.transaction(async (tx) => {
      const existing = await incidents.lockIncident(tx, workspaceId, id);
      if (existing === null) throw new Error('The incident that was stored is not found');
      expect(await incidents.lockUnclosed(tx, workspaceId, 'key-7')).toEqual(existing);
      await incidents.writeIncident(tx, { ...existing, version: 2 });
      expect(await incidents.insertIncident(tx, { ...existing, id: newIncidentId() })).toBe(false);
      expect(await incidents.insertIncident(tx, { ...existing, id: newIncidentId(), dedupKey: 'new' })).toBe(true);
      await entries.recordEntry(tx, id, { kind: 'seen_again', recurrence: 2, by: null, at: now, note: 'x' });
      expect(await sightings.recordSighting(tx, workspaceId, seen, now)).toBe(false);
      expect(await sightings.recordSighting(tx, workspaceId, { ...seen, sighting: 'y' }, now)).toBe(true);
      await sightings.forgetSightings(tx, new Date(0));
      expect(await watched.claimUnchecked(tx, { before: now, now, limit: 5 })).toEqual([{ workspaceId, place: 1 }]);
      await watched.noteChecked(tx, { workspaceId, place: 2 });
      await beats.noteHeard(tx, 'kernel', now);
      expect(await beats.noteMissed(tx, 'kernel', { now, awakeSince: new Date(0) })).toEqual(now);
      const command = await stops.findLatestCommand(tx, FenceScope.parse(`agent:${workspaceId}/7`));
      if (command === null) throw new Error('The command that was stored is not found');
      await stops.deliverAnew(tx, command);
      expect(await stops.getCommand(tx, command.id)).toMatchObject({ state: 'unconfirmed', effectiveAt: null });
      expect(await stops.listOverdue(tx, { before: now, dedupKey: 'key', limit: 10 })).toHaveLength(1);
    });
  });
  expect(recorded.length).toBeGreaterThan(20);
  expect(await filled.findGrowing(recorded, { rows: 20, pages: 200 })).toEqual([]);
});

/** One command is overdue and one workspace is due, beside many that are not. */
function fillSql(): string {
  const many = `generate_series(1, ${rows}) AS n`;
  const some = `generate_series(1, ${others}) AS n`;
  const of = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`;
  const state = `CASE WHEN n % 1000 = 7 THEN 'open' ELSE 'closed' END`;
  return `
    INSERT INTO incidents SELECT ${of('inc')}, '${workspaceId}', 'x', 'low', 'other', 'key-' || n, ${state}, 1, 1,
      CASE WHEN n % 1000 = 7 THEN NULL ELSE '${userId}' END, '{}', NULL, now(), now(), now() FROM ${many};
    INSERT INTO incident_entries SELECT 'ine_' || n, ${of('inc')}, 'opened', now(), NULL, 'x', NULL, NULL, '{}', NULL, NULL, NULL FROM ${some};
    INSERT INTO stop_commands (id, workspace_id, scope, epoch, kind, reason, given_by, given_at, state, effective_at, incident_id)
      SELECT ${of('cmd')}, '${workspaceId}', 'agent:${workspaceId}/' || n, 1, 'freeze', 'x', 'x', now(), 'effective', now(), ${of('inc')} FROM ${some};
    INSERT INTO stop_commands (id, workspace_id, scope, epoch, kind, reason, given_by, given_at, state)
      VALUES ('${newCommandId()}', '${workspaceId}', 'tenant:${workspaceId}', 1, 'freeze', 'x', 'x', now() - interval '1 hour', 'unconfirmed');
    INSERT INTO stop_scopes SELECT 'agent:${workspaceId}/' || n, '${workspaceId}', 1 FROM ${some};
    INSERT INTO watched_workspaces SELECT ${of('wsp')}, 1, CASE WHEN n = 7 THEN now() - interval '1 hour' ELSE now() + interval '1 hour' END FROM ${some};
    INSERT INTO incident_sightings SELECT ${of('wsp')}, 'key', 'x', now() FROM ${some};
    ANALYZE`;
}
