import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WorkspaceId } from '@countersign/contracts';
import { createTestDatabase, type TestDatabase } from '@countersign/database/testing';
import { eventFactory } from '@countersign/messaging';
import { listIncidents } from '../src/store/incidents.ts';
import { openControlPlaneDatabase, type ControlPlaneDatabase } from '../src/store/database.ts';
import { createSibling } from '../src/siblings/sibling.ts';
import { recordHint } from '../src/store/hints.ts';
import { reportSighting, type Seen } from '../src/watching/report-sighting.ts';
import { tellEveryWorkspace, ToldPlaces } from '../src/watching/tell-every-workspace.ts';
import { watchDrift } from '../src/watching/watch-drift.ts';
import { noteBeat } from '../src/watching/watch-heartbeats.ts';

const workspace = (n: number) => WorkspaceId.parse(`wsp_${String(n).padStart(26, '0')}`);
const start = Date.parse('2026-01-01T00:00:00Z');
let clockMs = start;
let scratch: TestDatabase;
let databases: [ControlPlaneDatabase, ControlPlaneDatabase];

beforeAll(async () => {
  const serviceDir = fileURLToPath(new URL('..', import.meta.url));
  scratch = await createTestDatabase({ serviceDir, schema: 'control_plane' });
  databases = [openControlPlaneDatabase(scratch.url), openControlPlaneDatabase(scratch.url)];
});

afterAll(async () => {
  for (const database of databases ?? []) await database.close();
  await scratch?.drop();
});

/** A replica, with all of a context that a watch uses. */
const replicaOn = (database: ControlPlaneDatabase) => ({
  database,
  transaction: database.transaction,
  newEvent: eventFactory({ source: '/control-plane' }),
  now: () => new Date(clockMs),
});
const replicas = () => [replicaOn(databases[0]), replicaOn(databases[1])] as const;
const seen = (sighting: string, dedupKey = 'drift:x'): Seen => ({
  ...{ title: 'x', severity: 'high', category: 'drift', note: 'x', receipts: [] },
  ...{ dedupKey, sighting },
});
const incidentsOf = async (workspaceId: WorkspaceId) =>
  (await listIncidents(replicas()[0].database.reader, workspaceId, { limit: 200 })).incidents;

it('counts each sighting once, by any watcher and however often, and opens one incident for one key', async () => {
  // One for each connection of a replica: all wait for one row, and none is to wait for a connection as well.
  const sightings = Array.from({ length: 10 }, (_, n) => seen(`sighting ${n % 5}`));
  await Promise.all(
    sightings.flatMap((one) => replicas().map((replica) => reportSighting(replica, workspace(1), one))),
  );
  expect(await incidentsOf(workspace(1))).toMatchObject([{ state: 'open', recurrence: 5, version: 5, openedBy: null }]);
});

it('tells every workspace that was ever told of anything, once, some in each pass and on both replicas', async () => {
  const [one] = replicas();
  const known = Array.from({ length: 250 }, (_, n) => workspace(1_000 + n));
  await one.transaction(async (tx) => {
    for (const workspaceId of known)
      await recordHint(tx, workspaceId, { type: 'audit', ref: null, version: null }, one.now());
  });
  const told = replicas().map((replica) => ({ replica, places: new ToldPlaces() }));
  for (let pass = 0; pass < 4; pass += 1)
    await Promise.all(
      told.map(({ replica, places }) => tellEveryWorkspace(replica, places, seen('once', 'heartbeat:kernel'))),
    );
  for (const workspaceId of known.filter((_, n) => n % 83 === 0))
    expect(await incidentsOf(workspaceId)).toMatchObject([{ dedupKey: 'heartbeat:kernel', recurrence: 1 }]);
  const where = { dedupKey: 'heartbeat:kernel', workspaceId: { in: known } };
  expect(await one.database.reader.incident.count({ where })).toBe(known.length);
});

it('takes a service for silent after a minute without an answer, and not for having slept itself', async () => {
  const [one, other] = replicas();
  const beat = (isHeard: boolean, seconds: number, replica = one) => {
    clockMs = start + seconds * 1_000;
    return noteBeat(replica, 'kernel', { isHeard });
  };
  expect(await beat(false, 0)).toBeNull();
  expect(await beat(false, 20)).toBeNull();
  expect(await beat(false, 40, other)).toBeNull();
  expect(await beat(false, 60)).toEqual(new Date(start));
  expect(await beat(false, 70, other)).toEqual(new Date(start));
  expect(await beat(true, 80, other)).toBeNull();
  expect(await beat(false, 81)).toBeNull();
  // No probe ran.
  expect(await beat(false, 10_000)).toBeNull();
  expect(await beat(false, 10_020)).toBeNull();
  expect(await beat(false, 10_045)).toBeNull();
  expect(await beat(false, 10_060)).toEqual(new Date(start + 10_000_000));
});

it('reports the drift of a server of a workspace to that workspace, and that of the installation to all', async () => {
  const [one] = replicas();
  const [owner, neighbour] = [workspace(5_001), workspace(5_002)];
  await one.transaction(async (tx) => {
    for (const workspaceId of [owner, neighbour])
      await recordHint(tx, workspaceId, { type: 'audit', ref: null, version: null }, one.now());
  });
  const hash = (digit: string) => `sha256:${digit.repeat(64)}`;
  const drift = (tool: string, tenant: string | null) => ({
    ...{ tool, server_id: tool.split('.')[0], tenant_id: tenant, pinned_hash: hash('a'), observed_hash: hash('b') },
    drifted_at: '2026-01-01T00:00:00.000Z',
  });
  const pages = [
    { data: [drift('files.read', null), drift('notes.pay', owner)], next_cursor: 'bmV4dA' },
    { data: [drift('other.pay', 'no-workspace')], next_cursor: null },
  ];
  const http = createServer((req, res) => {
    const page = pages[new URL(req.url ?? '', 'http://kernel').searchParams.has('cursor') ? 1 : 0];
    res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const address = http.address();
  const port = typeof address === 'object' ? address?.port : null;
  const kernel = createSibling({
    baseUrl: `http://127.0.0.1:${port}`,
    serviceApiKey: 'service-key',
    timeoutMs: 10_000,
  });
  try {
    const places = new ToldPlaces();
    for (let pass = 0; pass < 2; pass += 1) await watchDrift({ ...one, kernel }, places);
    const titles = async (of: WorkspaceId) => (await incidentsOf(of)).map(({ title }) => title).sort();
    expect(await titles(owner)).toEqual([
      'The definition of files.read changed',
      'The definition of notes.pay changed',
    ]);
    expect(await titles(neighbour)).toEqual(['The definition of files.read changed']);
    expect(await incidentsOf(owner)).toMatchObject([{ recurrence: 1 }, { recurrence: 1 }]);
  } finally {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  }
});
