import type { EventOf } from '@countersign/contracts';
import type { incidentMoved } from '@countersign/contracts/control-plane';
import { PlatformEventType } from '@countersign/contracts/gateway';
import { announce } from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import { newId } from '../ids.ts';
import type { Tx } from '../store/database.ts';

/**
 * In the transaction of an event, notifies the subscriptions of its workspace, if subscriptions can receive events of
 * this type.
 */
export async function announceEvent(
  tx: Tx,
  { type, data, now }: { type: string; data: { workspaceId: string }; now(): Promise<Date> },
): Promise<void> {
  const announced = PlatformEventType.safeParse(type.replace(/\.v\d+$/, ''));
  if (!announced.success) return;
  const announcement = { owner: data.workspaceId, type: announced.data, data, now };
  await announce(queryableOf(tx), announcement, () => newId('ntf'));
}

type Incident = EventOf<typeof incidentMoved>['data'];

/** Notifies the subscriptions about an incident that the control plane opened. */
export async function announceIncident(
  tx: Tx,
  { workspace_id, incident_id, severity, category }: Incident,
  now: () => Promise<Date>,
): Promise<void> {
  const data = { workspaceId: workspace_id, incidentId: incident_id, severity, category };
  const type: PlatformEventType = 'incident.opened';
  await announce(queryableOf(tx), { owner: workspace_id, type, data, now }, () => newId('ntf'));
}
