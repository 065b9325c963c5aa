import { backoffMs, reconnectBackoff, type Backoff } from './backoff.ts';
import { systemClock, type Clock } from './clock.ts';
import { reasonOf, silent, type MessageBus, type Report } from './message-bus.ts';
import { countUnsent, lockUnsent, markSent, postpone, purge } from './outbox.ts';
import type { Queryable, Transaction } from './queryable.ts';
import { createWake, type Wake } from './wake.ts';

// RabbitMQ is not faster with more than 200 to 1,000 confirms in flight. A crash publishes at most one batch twice.
const batchSizeDefault = 500;
// Each poll costs only two index look-ups, so polls are frequent. A missing poke then delays events only briefly.
const pollMsDefault = 500;
const purgeIntervalMs = 60_000;
const outboxRetentionMs = 24 * 3_600_000;
// Longer than a queue stores any duplicate. A message whose id is removed earlier could be handled twice.
const inboxRetentionMs = 30 * 24 * 3_600_000;
const backlogBound = 1_000;

export type OutboxRelayOptions = {
  bus: MessageBus;
  /**
   * Runs a transaction in the schema of the service with this outbox. The transaction stays open until the broker
   * confirms the messages (at most 10 s).
   */
  transaction: Transaction;
  batchSize?: number;
  pollMs?: number;
  retention?: { outboxMs: number; inboxMs: number };
  backoff?: Backoff;
  clock?: Clock;
  random?: () => number;
  report?: Report;
};

/**
 * `backlog` is counted up to 1,000. It is counted once per poll interval, but not while full batches are published or
 * the relay fails. `failing` is the reason why nothing is published.
 */
type RelayStatus = { connected: boolean; backlog: number; failing?: string };

/**
 * Publishes the outbox of a service at least once, in the order of `position`. A row is marked as sent only after the
 * transport confirmed it, in the transaction that locks the row. Any number of replicas may run. Each of them keeps the
 * order.
 */
export class OutboxRelay {
  readonly #options: Required<OutboxRelayOptions>;
  readonly #wake: Wake;
  #running: Promise<void> | undefined;
  #stopping = false;
  #failures = 0;
  #purgedAtMs = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;
  #backlog = 0;
  #failing: string | undefined;

  constructor(options: OutboxRelayOptions) {
    this.#options = {
      batchSize: batchSizeDefault,
      pollMs: pollMsDefault,
      retention: { outboxMs: outboxRetentionMs, inboxMs: inboxRetentionMs },
      backoff: reconnectBackoff,
      clock: systemClock,
      random: Math.random,
      report: silent,
      ...options,
    };
    this.#wake = createWake(this.#options.clock);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Wakes the relay after a transaction with events has committed. Never throws, never waits. */
  poke(): void {
    this.#wake.poke();
  }

  status(): RelayStatus {
    const { connected } = this.#options.bus.status();
    return { connected, backlog: this.#backlog, ...(this.#failing !== undefined && { failing: this.#failing }) };
  }

  /** Finishes the current batch. Stop the relay before its bus. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake.poke();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      try {
        const relayed = await this.#relayBatch();
        this.#failures = 0;
        this.#failing = undefined;
        if (relayed === this.#options.batchSize) continue;
        await this.#tidy();
        await this.#wake.wait(this.#options.pollMs);
      } catch (error) {
        await this.#pauseAfter(error);
      }
    }
  }

  async #relayBatch(): Promise<number> {
    const { bus, transaction, batchSize } = this.#options;
    // The connection is checked first. Otherwise the relay would lock and unlock the same rows repeatedly during an
    // outage of the broker.
    if (!bus.status().connected) return 0;
    return transaction(async (tx) => {
      const batch = await lockUnsent(tx, batchSize);
      if (batch.length === 0) {
        // An idle service counts the backlog in the same transaction that found no batch.
        if (this.#isCountDue()) await this.#countBacklog(tx);
        return 0;
      }
      const unroutable = new Set((await bus.publish(batch)).unroutable);
      const ids = batch.map(({ id }) => id);
      await markSent(
        tx,
        ids.filter((id) => !unroutable.has(id)),
      );
      if (unroutable.size > 0)
        await this.#keep(
          batch.filter(({ id }) => unroutable.has(id)),
          (kept) => postpone(tx, kept),
        );
      return batch.length;
    });
  }

  async #keep(messages: { id: string; type: string }[], keep: (ids: string[]) => Promise<void>): Promise<void> {
    await keep(messages.map(({ id }) => id));
    for (const { id, type } of messages) this.#options.report({ name: 'unroutable', fields: { id, type } });
  }

  async #tidy(): Promise<void> {
    const { transaction, clock, retention } = this.#options;
    if (this.#isCountDue()) await transaction((tx) => this.#countBacklog(tx));
    if (clock.now() - this.#purgedAtMs < purgeIntervalMs) return;
    await transaction((tx) => purge(tx, retention));
    this.#purgedAtMs = clock.now();
  }

  #isCountDue(): boolean {
    const { clock, pollMs } = this.#options;
    return clock.now() - this.#countedAtMs >= pollMs;
  }

  async #countBacklog(tx: Queryable): Promise<void> {
    this.#backlog = await countUnsent(tx, backlogBound);
    this.#countedAtMs = this.#options.clock.now();
  }

  async #pauseAfter(error: unknown): Promise<void> {
    const { backoff, random, report } = this.#options;
    this.#failing = reasonOf(error);
    report({ name: 'relay-failed', fields: { reason: this.#failing, failures: this.#failures + 1 } });
    await this.#wake.wait(backoffMs({ attempt: this.#failures++, ...backoff }, random));
  }
}
