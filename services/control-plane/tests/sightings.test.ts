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

/** A replica with the members of a context that a watch uses. */
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

it('each sighting counts once across watchers, and one key has one incident', async () => {
  // One sighting for each connection of a replica. All wait for one row, and none may wait for a connection.
  const sightings = Array.from({ length: 10 }, (_, n) => seen(`sighting ${n % 5}`));
  await Promise.all(
    sightings.flatMap((one) => replicas().map((replica) => reportSighting(replica, workspace(1), one))),
  );
  expect(await incidentsOf(workspace(1))).toMatchObject([{ state: 'open', recurrence: 5, version: 5, openedBy: null }]);
});

it('each known workspace is notified once, in several passes and by both replicas', async () => {
  const [one] = replicas();
  const existing = Array.from({ length: 250 }, (_, n) => workspace(1_000 + n));
  await one.transaction(async (tx) => {
    for (const workspaceId of existing)
      await recordHint(tx, workspaceId, { type: 'audit', ref: null, version: null }, one.now());
  });
  const messages = replicas().map((replica) => ({ replica, places: new ToldPlaces() }));
  for (let pass = 0; pass < 4; pass += 1)
    await Promise.all(
      messages.map(({ replica, places }) => tellEveryWorkspace(replica, places, seen('once', 'heartbeat:kernel'))),
    );
  for (const workspaceId of existing.filter((_, n) => n % 83 === 0))
    expect(await incidentsOf(workspaceId)).toMatchObject([{ dedupKey: 'heartbeat:kernel', recurrence: 1 }]);
  const where = { dedupKey: 'heartbeat:kernel', workspaceId: { in: existing } };
  expect(await one.database.reader.incident.count({ where })).toBe(existing.length);
});

it('a service counts as silent after a minute without a response, but not when no probe ran', async () => {
  const [one, second] = replicas();
  const beat = (isHeard: boolean, seconds: number, replica = one) => {
    clockMs = start + seconds * 1_000;
    return noteBeat(replica, 'kernel', { isHeard });
  };
  expect(await beat(false, 0)).toBeNull();
  expect(await beat(false, 20)).toBeNull();
  expect(await beat(false, 40, second)).toBeNull();
  expect(await beat(false, 60)).toEqual(new Date(start));
  expect(await beat(false, 70, second)).toEqual(new Date(start));
  expect(await beat(true, 80, second)).toBeNull();
  expect(await beat(false, 81)).toBeNull();
  // No probe ran between second 81 and second 10,000.
  expect(await beat(false, 10_000)).toBeNull();
  expect(await beat(false, 10_020)).toBeNull();
  expect(await beat(false, 10_045)).toBeNull();
  expect(await beat(false, 10_060)).toEqual(new Date(start + 10_000_000));
});

it('the drift of a server is reported to its workspace, and for a server of the installation to all', async () => {
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
