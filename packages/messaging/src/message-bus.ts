import type { EventDefinition, EventOf } from '@countersign/contracts';
import type { Backoff } from './backoff.ts';
import type { Queryable, Transaction } from './queryable.ts';

/** One event in transport. `body` is the CloudEvent as JSON text, encoded only once. */
export type Message = { id: string; type: string; body: string; needsConsumer: boolean };

/** Result of a handler. An error that the handler throws counts as `retry`. */
export type Outcome =
  | { kind: 'ack' }
  | { kind: 'retry'; reason: string; delayMs?: number }
  | { kind: 'later'; delayMs: number }
  | { kind: 'reject'; reason: string };

export const ack: Outcome = { kind: 'ack' };

/** Requests the message again after `delayMs`, or after the backoff of the subscription. Counts as a delivery. */
export function retry(reason: string, delayMs?: number): Outcome {
  return delayMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, delayMs };
}

/**
 * Requests the message again after `delayMs`, because it is too early to handle it. It is not reported as a failure.
 * Counts as a delivery.
 */
export function later(delayMs: number): Outcome {
  return { kind: 'later', delayMs };
}

/** Moves the message to the dead letters at once, because later deliveries would fail too. */
export function reject(reason: string): Outcome {
  return { kind: 'reject', reason };
}

export type Delivery = {
  /** 1 for the first delivery. Deliveries that ended in a crash count. */
  number: number;
  /**
   * Aborted when the handler should stop: connection lost, time-out or shutdown. A long handler checks it between
   * steps.
   */
  signal: AbortSignal;
};

type SubscriptionBase<Definition, Tx extends Queryable> = {
  /** Durable name of the queue, and of the consumer in the inbox. Replicas share it. */
  queue: string;
  events: readonly Definition[];
  /** Runs a transaction in the schema of the consuming service. */
  transaction: Transaction<Tx>;
  /** Maximum number of messages that are handled concurrently. 1 keeps the order, except after a retry. Default 10. */
  prefetch?: number;
  /** Number of deliveries after which the message becomes a dead letter. Default 5. */
  maxDeliveries?: number;
  /** Pause before a retry without `delayMs`. */
  retryBackoff?: Backoff;
  /**
   * Time after which `delivery.signal` is aborted. It must be below the broker's consumer time-out of 30 minutes.
   * Default 25 minutes.
   */
  timeoutMs?: number;
};

/**
 * - `in-transaction` (default): the inbox gets the message id in the transaction of the handler, so both commit
 * together. A duplicate is acknowledged without a call of the handler. Every outcome except `ack` rolls back.
 * - `outside-transaction`: for work that takes minutes. No transaction is open while the handler runs, and the inbox is
 * not used. After a lost connection, the message can be delivered again while its first handler still runs. The handler
 * therefore takes its own lease by compare-and-set. It returns `ack` when the work is done, or when another handler
 * owns it.
 */
export type Subscription<Definition extends EventDefinition = EventDefinition, Tx extends Queryable = Queryable> =
  | (SubscriptionBase<Definition, Tx> & {
      acts?: 'in-transaction';
      handler(event: EventOf<Definition>, tx: Tx, delivery: Delivery): Promise<Outcome>;
    })
  | (SubscriptionBase<Definition, Tx> & {
      acts: 'outside-transaction';
      handler(event: EventOf<Definition>, delivery: Delivery): Promise<Outcome>;
    });

/** A running subscription. */
type Consumer = {
  /** Settles when the queue exists and its first delivery can arrive, or when the bus closes first. Never rejects. */
  subscribed: Promise<void>;
};

type BusStatus = {
  driver: 'rabbitmq' | 'in-process';
  connected: boolean;
  /** Queues that currently deliver to this process. */
  consuming: string[];
  /** Number of running handlers. */
  handling: number;
};

export type MessageBus = {
  /**
   * Resolves when the transport has stored all messages durably. It rejects when that is uncertain, and the caller
   * publishes all of them again. `unroutable` lists the messages with `needsConsumer` that matched no queue. They are
   * not published.
   */
  publish(batch: readonly Message[]): Promise<{ unroutable: string[] }>;
  /** Declares the queue and delivers until `close()`, also after lost connections. Does not wait for the transport. */
  consume<Definition extends EventDefinition, Tx extends Queryable>(
    subscription: Subscription<Definition, Tx>,
  ): Consumer;
  /** Moves the dead letters of a queue back into it as new messages. Returns their number. */
  redrive(queue: string): Promise<number>;
  /** Number of dead letters in the queues that this process consumes. Rejects while the number is unknown. */
  countDeadLetters(): Promise<number>;
  status(): BusStatus;
  /** Stops deliveries, aborts `delivery.signal`, waits for running handlers (at most `graceMs`), disconnects. */
  close(options?: { graceMs?: number }): Promise<void>;
};

/** Faults that messaging handles by itself. Services log them. They contain no message data. */
export type Report = (event: {
  name: 'connection-lost' | 'subscription-lost' | 'relay-failed' | 'unroutable' | 'delivery-retried' | 'dead-lettered';
  fields: Record<string, string | number>;
}) => void;

export const silent: Report = () => undefined;

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
