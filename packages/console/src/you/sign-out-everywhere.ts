import { isAppError } from '@countersign/contracts';
import { person } from '../api/clients.ts';

/**
 * Ends the sessions of all browsers and programs of the person, and the session of this browser last. An answer lists
 * at most a hundred of each, so the list is read until it is empty. Throws the error of a service. Sign-ins that have
 * ended by then stay ended.
 */
export async function signOutEverywhere(): Promise<void> {
  for (;;) {
    const { sessions, devices } = (await person.getSession()).body;
    const others = [...sessions.filter(({ current }) => !current), ...devices];
    if (others.length === 0) break;
    for (const { session_id } of others) await end(session_id);
  }
  await person.deleteSession();
}

async function end(id: string): Promise<void> {
  await person.endCredential({ params: { credential_id: id } }).catch((error: unknown) => {
    // A sign-in that has already ended is not an error.
    if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
  });
}
