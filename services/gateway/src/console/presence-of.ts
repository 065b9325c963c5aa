import { AppError, SignInId } from '@countersign/contracts';
import type { PersonCaller, WorkspaceCaller } from '../guards.ts';
import type { Reader } from '../store/database.ts';
import { findSignedInAt } from '../store/sessions.ts';
import type { Presence } from './person-of-cookie.ts';

/**
 * How the control plane knows that this person is there. Throws PERMISSION_DENIED for a caller that is no person at a
 * browser or a terminal.
 */
export async function presenceOf(reader: Reader, caller: PersonCaller | WorkspaceCaller): Promise<Presence> {
  if ('console' in caller) return caller.console;
  if ('delegated' in caller) return caller.delegated;
  // A program never proves presence.
  if ('device' in caller) return { ...caller.device, provenAt: new Date(0) };
  if (!('session' in caller)) throw new AppError('PERMISSION_DENIED', 'A person does this, signed in');
  const { familyId } = caller.session;
  return { sessionId: SignInId.parse(familyId), provenAt: await findSignedInAt(reader, familyId) };
}
