import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { publishPeople } from '../provisioning/publish-people.ts';

/** The end of an access has to be effective everywhere within five seconds. */
const passMs = 500;

/** Informs the gateway of people whom identity providers changed. Safe on every replica at once. */
export function startPersonPublisher(context: Context): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const onFailure = (error: unknown) => log.warn('person_publisher.failed', { error });
  const run = async () => {
    while ((await publishPeople(context)) > 0);
  };
  const passes = repeat({ run, intervalMs: passMs, clockGuard, onFailure });
  return { stop: passes.close };
}
