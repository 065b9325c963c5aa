import { personAccessEnded, personProvisioned } from '@countersign/contracts/commercial-gateway';
import { ack, messagingTransaction, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { receivePerson } from '../provisioning/receive-person.ts';
import { gatewayQueues } from '../queues.ts';
import type { Tx } from '../store/database.ts';

/** At two deliveries a minute, a failing message is repeated for more than three days. */
const deliveriesMax = 10_000;

/** Receives the states of people whom identity providers manage, and ends access in the same transaction. */
export function startPersonListener(context: Context): { subscribed: Promise<void> } {
  return receive(context, { queue: 'people', event: personProvisioned });
}

/** Receives ends of access in a separate queue, so that thousands of other changes do not delay them. */
export function startEndListener(context: Context): { subscribed: Promise<void> } {
  return receive(context, { queue: 'ends', event: personAccessEnded });
}

type Received = { queue: 'people' | 'ends'; event: typeof personProvisioned | typeof personAccessEnded };

/** A state that is not newer than the stored one changes nothing, so the order of the two queues does not matter. */
function receive(context: Context, { queue, event }: Received): { subscribed: Promise<void> } {
  return context.bus.consume<Received['event'], Queryable & { prisma: Tx }>({
    queue: gatewayQueues(context.config.bus.exchange)[queue],
    events: [event],
    transaction: messagingTransaction(context.transaction),
    maxDeliveries: deliveriesMax,
    handler: async ({ data }, { prisma: tx }) => {
      await receivePerson(tx, context, data);
      return ack;
    },
  });
}
