import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { WorkspaceId } from '@countersign/contracts';
import { kernelHostDrift } from '@countersign/contracts/governance-kernel';
import { eventFactory } from '@countersign/messaging';
import { until } from '@countersign/testkit/until';
import { listTimeline } from '../src/store/incident-entries.ts';
import { listIncidents } from '../src/store/incidents.ts';
import { startHostDriftListener } from '../src/workers/host-drift-listener.ts';
import { openStoreContext } from './_store-context.ts';

let opened: Awaited<ReturnType<typeof openStoreContext>>;
const newEvent = eventFactory({ source: '/kernel' });
const workspaceId = WorkspaceId.parse('wsp_01ARZ3NDEKTSV4RRFFQ69G5FAV');
const receiptId = 'rcp_01ARZ3NDEKTSV4RRFFQ69G5FAV';

beforeAll(async () => {
  opened = await openStoreContext();
  await startHostDriftListener(opened.context).subscribed;
});

afterAll(() => opened?.close());

const found = (chain: string, tenant: string) => {
  const data = {
    ...{ host_chain_id: chain, tenant_id: tenant, chain_id: 'host-1', imported_by: 'usr_01ARZ3NDEKTSV4RRFFQ69G5FAV' },
    counts: { without_intent: 2, after_deny: 1, destination_mismatch: 0, volume_exceeded: 0 },
    ...{ receipt_ids: [receiptId], verified: 3, detected_at: '2026-11-28T10:00:00.000Z' },
  } as never; // the event's definition validates it
  return newEvent(kernelHostDrift, data).event;
};
const publish = (event: { id: string; type: string }) =>
  opened.context.bus.publish([{ id: event.id, type: event.type, body: JSON.stringify(event), needsConsumer: false }]);
const incidents = async () =>
  (await listIncidents(opened.context.database.reader, workspaceId, { limit: 200 })).incidents;

it('an import with drift opens one incident in its workspace, and in other tenants none', async () => {
  const first = found('hch_01ARZ3NDEKTSV4RRFFQ69G5FAA', workspaceId);
  for (const event of [first, found('hch_01ARZ3NDEKTSV4RRFFQ69G5FAB', 'acme'), first]) await publish(event);
  await publish(found('hch_01ARZ3NDEKTSV4RRFFQ69G5FAC', workspaceId));
  await until(async () => (await incidents()).length === 2 && opened.context.bus.status().handling === 0);
  expect(await incidents()).toMatchObject([
    { severity: 'high', category: 'conduct', state: 'open', recurrence: 1, receipts: [receiptId] },
    { severity: 'high', category: 'conduct', state: 'open', recurrence: 1, receipts: [receiptId] },
  ]);
  const [{ id } = { id: undefined }] = await incidents();
  const [entry] = id === undefined ? [] : await listTimeline(opened.context.database.reader, id, 10);
  expect(entry?.note).toContain('the recorder chain host-1');
});
