import { CloudEventEnvelope, type CloudEvent, type EventDefinition } from '@countersign/contracts';
import { backoffMs, type Backoff } from './backoff.ts';
import { reasonOf, retry, type Delivery, type Outcome, type Subscription } from './message-bus.ts';
import type { Queryable } from './queryable.ts';
import { matchesTopic } from './topic-pattern.ts';

// Five deliveries with this backoff take 4 to 8 s. That is longer than the restart of another service, but a poison
// message does not block for long.
const deliveriesMaxDefault = 5;
const retryBackoff: Backoff = { baseMs: 500, maxMs: 30_000 };

/**
 * The transport's action on the delivered message. `reason` is `null` for a retry that the handler requested without a
 * fault.
 */
export type Disposition =
  { kind: 'ack' } | { kind: 'retry'; delayMs: number; reason: string | null } | { kind: 'dead'; reason: string };

/**
 * Passes one delivery to its handler, under the inbox rule of the subscription. Never rejects: an error becomes a
 * disposition.
 */
export async function handleDelivery(
  subscription: Subscription,
  { body, delivery, random }: { body: string; delivery: Delivery; random: () => number },
): Promise<Disposition> {
  const maxDeliveries = subscription.maxDeliveries ?? deliveriesMaxDefault;
  // A delivery beyond the limit means that earlier ones ended without a result, as in a crash or a lost connection.
  if (delivery.number > maxDeliveries)
    return { kind: 'dead', reason: 'delivery limit: earlier deliveries ended without a result' };
  const event = parseEvent(subscription.events, body);
  if (typeof event === 'string') return { kind: 'dead', reason: event };
  const outcome = await act(subscription, event, delivery).catch((error: unknown) => retry(reasonOf(error)));
  switch (outcome.kind) {
    case 'ack':
      return outcome;
    case 'reject':
      return { kind: 'dead', reason: outcome.reason };
    case 'later':
      if (delivery.number === maxDeliveries) return { kind: 'dead', reason: 'delivery limit' };
      return { kind: 'retry', reason: null, delayMs: outcome.delayMs };
    case 'retry': {
      const { reason } = outcome;
      if (delivery.number === maxDeliveries) return { kind: 'dead', reason: `delivery limit: ${reason}` };
      const backoff = { attempt: delivery.number - 1, ...(subscription.retryBackoff ?? retryBackoff) };
      return { kind: 'retry', reason, delayMs: outcome.delayMs ?? backoffMs(backoff, random) };
    }
    default:
      return outcome satisfies never;
  }
}

/** Returns the event, or the reason why later deliveries would be invalid too. */
function parseEvent(definitions: readonly EventDefinition[], body: string): CloudEvent | string {
  try {
    const event = CloudEventEnvelope.parse(JSON.parse(body));
    const definition = definitions.find(({ type }) => matchesTopic(type, event.type));
    if (definition === undefined) return `no definition for the event type ${event.type}`;
    return { ...event, data: definition.data.parse(event.data) };
  } catch (error) {
    return `malformed event: ${reasonOf(error)}`;
  }
}

async function act(subscription: Subscription, event: CloudEvent, delivery: Delivery): Promise<Outcome> {
  if (subscription.acts === 'outside-transaction') return subscription.handler(event, delivery);
  const { queue, transaction, handler } = subscription;
  try {
    return await transaction(async (tx) => {
      if (!(await enterInbox(tx, queue, event.id))) return { kind: 'ack' };
      const outcome = await handler(event, tx, delivery);
      if (outcome.kind !== 'ack') throw new NotActed(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof NotActed) return error.outcome;
    throw error;
  }
}

/** Returns false for a duplicate. Waits for a transaction that is handling the same message. */
async function enterInbox(tx: Queryable, consumer: string, messageId: string): Promise<boolean> {
  const { rows } = await tx.query(
    'INSERT INTO inbox (consumer, message_id) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING message_id',
    [consumer, messageId],
  );
  return rows.length === 1;
}

// Thrown to roll back the handler's transaction when the outcome is not `ack`.
class NotActed extends Error {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    super('The handler did not acknowledge.');
    this.outcome = outcome;
  }
}
