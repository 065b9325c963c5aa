import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { publishPeople } from '../provisioning/publish-people.ts';

/** Interval of the publisher. The end of an access must take effect everywhere within five seconds. */
const passMs = 500;

/** Publishes the state of people whom identity providers changed. It can run on all replicas at once. */
export function startPersonPublisher(context: Context): { stop(): Promise<void> } {
  const { log, clockGuard } = context;
  const onFailure = (error: unknown) => log.warn('person_publisher.failed', { error });
  const run = async () => {
    while ((await publishPeople(context)) > 0);
  };
  const passes = repeat({ run, intervalMs: passMs, clockGuard, onFailure });
  return { stop: passes.close };
}
