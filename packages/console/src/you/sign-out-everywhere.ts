import { isAppError } from '@countersign/contracts';
import { person } from '../api/clients.ts';

/**
 * Ends every browser and program of the person, and then this browser. A list holds the newest hundred of each, so it is asked until nothing
 * is left. Throws what a service answered; whatever had ended by then stays ended.
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
    // It has ended by itself in the meantime.
    if (!isAppError(error) || error.code !== 'NOT_FOUND') throw error;
  });
}
