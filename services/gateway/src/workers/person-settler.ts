import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { settlePerson } from '../provisioning/settle-person.ts';
import { listDuePeople } from '../store/provisioned-people.ts';

const passMs = 1_000;
const peopleAtOnce = 50;

/**
 * Gives provisioned people the roles of their groups, and ends the approvals of people whose access ended. Every step
 * is repeatable, so all replicas may run it at once.
 */
export function startPersonSettler(context: Context): { stop(): Promise<void> } {
  const { log, clockGuard, database, now } = context;
  const onFailure = (error: unknown) => log.warn('person_settler.failed', { error });
  const run = async () => {
    for (const person of await listDuePeople(database.reader, now(), peopleAtOnce))
      await settlePerson(context, person).catch(onFailure);
  };
  const passes = repeat({ run, intervalMs: passMs, clockGuard, onFailure });
  return { stop: passes.close };
}
