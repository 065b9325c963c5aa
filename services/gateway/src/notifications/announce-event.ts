import { NotificationType } from '@countersign/contracts/gateway';
import { announce } from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import { newId } from '../ids.ts';
import type { Tx } from '../store/database.ts';

/** Tells the subscriptions of a workspace of an event, if it is one that can be told: in the transaction that makes it true. */
export async function announceEvent(
  tx: Tx,
  { type, data, now }: { type: string; data: { workspaceId: string }; now(): Promise<Date> },
): Promise<void> {
  const told = NotificationType.safeParse(type.replace(/\.v\d+$/, ''));
  if (!told.success) return;
  const announcement = { owner: data.workspaceId, type: told.data, data, now };
  await announce(queryableOf(tx), announcement, () => newId('ntf'));
}
