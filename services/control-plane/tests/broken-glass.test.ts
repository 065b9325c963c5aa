import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WorkspaceId } from '@countersign/contracts';
import { kernelGlassBroken } from '@countersign/contracts/governance-kernel';
import { eventFactory } from '@countersign/messaging';
import { until } from '@countersign/testkit/until';
import { listTimeline } from '../src/store/incident-entries.ts';
import { listIncidents } from '../src/store/incidents.ts';
import { startGlassListener } from '../src/workers/glass-listener.ts';
import { openStoreContext } from './_store-context.ts';

let opened: Awaited<ReturnType<typeof openStoreContext>>;
const newEvent = eventFactory({ source: '/kernel' });
const workspaceId = WorkspaceId.parse('wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV');

beforeAll(async () => {
  opened = await openStoreContext();
  await startGlassListener(opened.context).subscribed;
});

afterAll(() => opened?.close());

const broken = (approval: string, tenant: string) => {
  const data = {
    ...{ approval_id: approval, tenant_id: tenant, session_id: 'job-7', action: 'tool.call', tool: 'plant.stop' },
    ...{ effect_level: 'E4', broken_by: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV', reason: 'the plant\u202e is on fire' },
    ...{ broken_at: '2026-11-28T10:00:00.000Z', expires_at: '2026-11-28T10:05:00.000Z' },
  } as never; // the event's definition validates it
  return newEvent(kernelGlassBroken, data).event;
};
const publish = (event: { id: string; type: string }) =>
  opened.context.bus.publish([{ id: event.id, type: event.type, body: JSON.stringify(event), needsConsumer: false }]);
const incidents = async () =>
  (await listIncidents(opened.context.database.reader, workspaceId, { limit: 200 })).incidents;

it('break glass in a workspace opens one incident, and in other tenants none', async () => {
  const first = broken('apr_01ARZ3NDEKTSV4RRFFQ69G5FAA', workspaceId);
  for (const event of [first, broken('apr_01ARZ3NDEKTSV4RRFFQ69G5FAB', 'acme'), first]) await publish(event);
  await publish(broken('apr_01ARZ3NDEKTSV4RRFFQ69G5FAC', workspaceId));
  await until(async () => (await incidents()).length === 2 && opened.context.bus.status().handling === 0);
  expect(await incidents()).toMatchObject([
    { severity: 'high', category: 'broken_glass', state: 'open', recurrence: 1 },
    { severity: 'high', category: 'broken_glass', state: 'open', recurrence: 1 },
  ]);
  const [{ id } = { id: undefined }] = await incidents();
  const [entry] = id === undefined ? [] : await listTimeline(opened.context.database.reader, id, 10);
  expect(entry?.note).toContain('Reason: the plant⟨U+202E⟩ is on fire');
});
