import type { EventOf, SignInId, UserId } from '@countersign/contracts';
import { sessionEnded } from '@countersign/contracts/control-plane';
import { recordEventsIn } from '@countersign/messaging';
import type { Context } from './context.ts';
import type { Tx } from './store/database.ts';

/*
 * What the control plane says to the world. Each event is written in the transaction that makes it true.
 */

type Ended = { id: SignInId; userId: UserId; reason: EventOf<typeof sessionEnded>['data']['reason'] };

export async function publishSessionEnded(
  tx: Tx,
  { newEvent }: Pick<Context, 'newEvent'>,
  { id, userId, reason }: Ended,
): Promise<void> {
  await recordEventsIn(tx, [newEvent(sessionEnded, { session_id: id, user_id: userId, reason })]);
}
