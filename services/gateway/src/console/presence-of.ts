import { AppError, SignInId } from '@countersign/contracts';
import type { PersonCaller, WorkspaceCaller } from '../guards.ts';
import type { Reader } from '../store/database.ts';
import { findSignedInAt } from '../store/sessions.ts';
import type { Presence } from './person-of-cookie.ts';

/**
 * The sign-in of the caller, and the time of their last proof of presence. A session of this gateway proves presence
 * when it begins. Throws PERMISSION_DENIED for an API key.
 */
export async function presenceOf(reader: Reader, caller: PersonCaller | WorkspaceCaller): Promise<Presence> {
  if ('console' in caller) return caller.console;
  if ('delegated' in caller) return caller.delegated;
  // A program never proves presence.
  if ('device' in caller) return { ...caller.device, provenAt: new Date(0) };
  if (!('session' in caller)) throw new AppError('PERMISSION_DENIED', 'This route requires a person who is signed in');
  const { familyId } = caller.session;
  return { sessionId: SignInId.parse(familyId), provenAt: await findSignedInAt(reader, familyId) };
}
