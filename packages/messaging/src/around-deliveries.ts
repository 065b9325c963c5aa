import type { CloudEvent, EventDefinition, EventOf } from '@countersign/contracts';
import type { Delivery, MessageBus, Subscription } from './message-bus.ts';
import type { Queryable } from './queryable.ts';

/** Runs the work of one delivery inside code of the service that is common to all deliveries. */
type Around = <Result>(event: CloudEvent, queue: string, work: () => Promise<Result>) => Promise<Result>;

/** The same bus, with each handler of this service inside `around`. */
export function aroundDeliveries(bus: MessageBus, around: Around): MessageBus {
  return {
    publish: (batch) => bus.publish(batch),
    consume: (subscription) => bus.consume(surrounded(subscription, around)),
    redrive: (queue) => bus.redrive(queue),
    countDeadLetters: () => bus.countDeadLetters(),
    status: () => bus.status(),
    close: (options) => bus.close(options),
  };
}

function surrounded<Definition extends EventDefinition, Tx extends Queryable>(
  subscription: Subscription<Definition, Tx>,
  around: Around,
): Subscription<Definition, Tx> {
  const { queue } = subscription;
  if (subscription.acts === 'outside-transaction') {
    const handler = (event: EventOf<Definition>, delivery: Delivery) =>
      around(event, queue, () => subscription.handler(event, delivery));
    return { ...subscription, handler };
  }
  const handler = (event: EventOf<Definition>, tx: Tx, delivery: Delivery) =>
    around(event, queue, () => subscription.handler(event, tx, delivery));
  return { ...subscription, handler };
}
