import type { EventDefinition, EventOf } from '@countersign/contracts';
import type { Backoff } from './backoff.ts';
import type { Queryable, Transaction } from './queryable.ts';

/** One event as the transport carries it: `body` is the CloudEvent as JSON text, written once and never re-encoded. */
export type Message = { id: string; type: string; body: string; needsConsumer: boolean };

/** The decision of a handler. A handler that throws has decided `retry`. */
export type Outcome =
  | { kind: 'ack' }
  | { kind: 'retry'; reason: string; delayMs?: number }
  | { kind: 'later'; delayMs: number }
  | { kind: 'reject'; reason: string };

export const ack: Outcome = { kind: 'ack' };

/** Asks for the message again, after `delayMs` or the subscription's backoff; counts as a delivery. */
export function retry(reason: string, delayMs?: number): Outcome {
  return delayMs === undefined ? { kind: 'retry', reason } : { kind: 'retry', reason, delayMs };
}

/** Asks for the message again after `delayMs` because its time has not come: nothing failed, so nothing is reported. Counts as a delivery. */
export function later(delayMs: number): Outcome {
  return { kind: 'later', delayMs };
}

/** Sends the message to the dead letters at once: no later delivery could succeed. */
export function reject(reason: string): Outcome {
  return { kind: 'reject', reason };
}

export type Delivery = {
  /** 1 for the first delivery; deliveries that ended in a crash count. */
  number: number;
  /** Aborted when the result will not count any more: connection lost, time-out, shutdown. A long handler looks at it between steps. */
  signal: AbortSignal;
};

type SubscriptionBase<Definition, Tx extends Queryable> = {
  /** Durable name; also the consumer's name in the inbox. Replicas share it. */
  queue: string;
  events: readonly Definition[];
  /** A transaction of the consuming service's own schema. */
  transaction: Transaction<Tx>;
  /** How many messages are handled at the same time; 1 keeps the order. Default 10. */
  prefetch?: number;
  /** After so many deliveries the message is a dead letter. Default 5. */
  maxDeliveries?: number;
  /** Pause before a retry that names none. */
  retryBackoff?: Backoff;
  /** When `delivery.signal` is aborted; stay below the broker's consumer time-out of 30 minutes. Default 25 minutes. */
  timeoutMs?: number;
};

/**
 * - `in-transaction` (default): the message id enters the inbox in the transaction that the handler acts in. Acting and
 *   remembering commit together, a duplicate is acknowledged without acting, anything but `ack` rolls back.
 * - `outside-transaction`: for work that takes minutes. The database holds nothing while the handler runs, and the
 *   inbox is not used. The same message may come again, even while its first handler still runs elsewhere (connection
 *   lost). The handler takes its own lease by compare-and-set, and answers `ack` when the work is already done or owned
 *   by another.
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
  /** Settles when the queue exists and delivers for the first time, or when the bus closes before. Never rejects. */
  subscribed: Promise<void>;
};

type BusStatus = {
  driver: 'rabbitmq' | 'in-process';
  connected: boolean;
  /** Queues whose messages are being delivered to this process now. */
  consuming: string[];
  /** Handlers that run now. */
  handling: number;
};

export type MessageBus = {
  /**
   * Resolves when the transport has every message durably; rejects when it cannot tell, and then all of them are to be published
   * again. Messages that need a consumer and found no queue come back as `unroutable`: they are not published.
   */
  publish(batch: readonly Message[]): Promise<{ unroutable: string[] }>;
  /** Declares the queue and delivers until `close()`, across every loss of connection. Does not wait for the transport. */
  consume<Definition extends EventDefinition, Tx extends Queryable>(
    subscription: Subscription<Definition, Tx>,
  ): Consumer;
  /** Moves the dead letters of a queue back into it, as new messages; returns how many. */
  redrive(queue: string): Promise<number>;
  /** How many dead letters the queues have that this process consumes. Rejects while the number is unknown. */
  countDeadLetters(): Promise<number>;
  status(): BusStatus;
  /** Stops deliveries, aborts `delivery.signal`, waits for running handlers (at most `graceMs`), disconnects. */
  close(options?: { graceMs?: number }): Promise<void>;
};

/** Faults that messaging survives on its own; a service turns them into log lines. Never carries message data. */
export type Report = (event: {
  name: 'connection-lost' | 'subscription-lost' | 'relay-failed' | 'unroutable' | 'delivery-retried' | 'dead-lettered';
  fields: Record<string, string | number>;
}) => void;

export const silent: Report = () => undefined;

export function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
