import { backoffMs, reconnectBackoff, type Backoff } from './backoff.ts';
import { systemClock, type Clock } from './clock.ts';
import { reasonOf, silent, type MessageBus, type Report } from './message-bus.ts';
import { countUnsent, lockUnsent, markSent, postpone, purge } from './outbox.ts';
import type { Transaction } from './queryable.ts';
import { createWake, type Wake } from './wake.ts';

// RabbitMQ stops getting faster at 200 to 1,000 confirms in flight. A crash publishes at most one batch twice.
const batchSizeDefault = 500;
// Two index look-ups: cheap enough to make a forgotten poke harmless.
const pollMsDefault = 500;
const purgeIntervalMs = 60_000;
const outboxRetentionMs = 24 * 3_600_000;
// Longer than any queue keeps a duplicate: an id that is forgotten earlier would be acted on again.
const inboxRetentionMs = 30 * 24 * 3_600_000;
const backlogBound = 1_000;

export type OutboxRelayOptions = {
  bus: MessageBus;
  /** In the schema of the service whose outbox this is. Held open until the broker confirmed (at most 10 s). */
  transaction: Transaction;
  batchSize?: number;
  pollMs?: number;
  retention?: { outboxMs: number; inboxMs: number };
  backoff?: Backoff;
  clock?: Clock;
  random?: () => number;
  report?: Report;
};

/** `backlog` stops counting at 1,000; it was counted a poll interval ago at most. `failing` says why nothing moves. */
type RelayStatus = { connected: boolean; backlog: number; failing?: string };

/**
 * Publishes a service's outbox at least once and in the order of `position`. A row is marked as sent only after the
 * transport confirmed it, in the transaction that holds the row. Any number of replicas may run; order holds within one
 * of them.
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

  /** Says that a transaction with events has committed. Never throws, never waits. */
  poke(): void {
    this.#wake.poke();
  }

  status(): RelayStatus {
    const { connected } = this.#options.bus.status();
    return { connected, backlog: this.#backlog, ...(this.#failing !== undefined && { failing: this.#failing }) };
  }

  /** Finishes the batch that is under way. Stop the relay before its bus. */
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
    // Checked first, so that an outage of the broker does not lock and unlock the same rows all the time.
    if (!bus.status().connected) return 0;
    return transaction(async (tx) => {
      const batch = await lockUnsent(tx, batchSize);
      if (batch.length === 0) return 0;
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
    const { transaction, clock, retention, pollMs } = this.#options;
    if (clock.now() - this.#countedAtMs < pollMs) return;
    this.#backlog = await transaction((tx) => countUnsent(tx, backlogBound));
    this.#countedAtMs = clock.now();
    if (clock.now() - this.#purgedAtMs < purgeIntervalMs) return;
    await transaction((tx) => purge(tx, retention));
    this.#purgedAtMs = clock.now();
  }

  async #pauseAfter(error: unknown): Promise<void> {
    const { backoff, random, report } = this.#options;
    this.#failing = reasonOf(error);
    report({ name: 'relay-failed', fields: { reason: this.#failing, failures: this.#failures + 1 } });
    await this.#wake.wait(backoffMs({ attempt: this.#failures++, ...backoff }, random));
  }
}
