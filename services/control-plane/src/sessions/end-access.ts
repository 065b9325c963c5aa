import type { UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { Tx } from '../store/database.ts';
import { denyDeviceLoginsOf } from '../store/device-logins.ts';
import { listOpenedBefore } from '../store/sessions.ts';
import { endSignIn } from './end-sign-in.ts';

/**
 * Ends every session of a person that began before their access ended, for browsers and authorized programs. A program
 * that waits for its first token gets none. Repetition changes nothing, and sessions of a later sign-in stay.
 */
export async function endAccess(
  tx: Tx,
  context: Pick<Context, 'now' | 'newEvent'>,
  { userId, endedAt }: { userId: UserId; endedAt: Date },
): Promise<void> {
  await denyDeviceLoginsOf(tx, { userId, createdBefore: endedAt });
  for (const session of await listOpenedBefore(tx, { userId, before: endedAt }))
    await endSignIn(tx, context, session, { reason: 'access_ended', requestId: null });
}
