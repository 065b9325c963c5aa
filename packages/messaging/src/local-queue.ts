import { backoffMs, reconnectBackoff } from './backoff.ts';
import type { Clock } from './clock.ts';
import type { Disposition } from './inbox.ts';
import {
  bury,
  claim,
  enqueue,
  hide,
  redriveDeadLetters,
  releaseLeases,
  remove,
  type LocalDelivery,
} from './local-deliveries.ts';
import { localDeadLetters } from './local-dead-letters.ts';
import { reasonOf, type Message, type Report, type Subscription } from './message-bus.ts';
import { prefetchDefault, RunningDeliveries } from './running-deliveries.ts';
import { createWake, type Wake } from './wake.ts';

// Renewed three times per lease, so only the lease of a blocked or dead process ends.
const leaseMs = 30_000;
// New messages and retries wake the loop at once. Polling finds rows of other processes, such as a redriven dead
// letter.
const pollMs = 5_000;

/** One queue of the in-process driver, with its only consumer. */
export class LocalQueue {
  readonly subscription: Subscription;
  readonly subscribed: Promise<void>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #report: Report;
  readonly #wake: Wake;
  readonly #handlers: RunningDeliveries;
  readonly #inProgress = new Set<{ messageId: string; done: Promise<void> }>();
  readonly #stopped = new AbortController();
  readonly #loop: Promise<void>;
  #opened: () => void = () => undefined;

  constructor(subscription: Subscription, context: { clock: Clock; random: () => number; report: Report }) {
    this.subscription = subscription;
    this.#clock = context.clock;
    this.#random = context.random;
    this.#report = context.report;
    this.#wake = createWake(context.clock);
    this.#handlers = new RunningDeliveries(subscription, context);
    this.subscribed = new Promise((resolve) => (this.#opened = resolve));
    this.#loop = this.#run();
  }

  get handling(): number {
    return this.#handlers.size;
  }

  /** Resolves when the tables of the consumer contain the messages. */
  async enqueue(messages: readonly Message[]): Promise<void> {
    await this.subscription.transaction((tx) => enqueue(tx, this.subscription.queue, messages));
    this.#wake.poke();
  }

  async redrive(): Promise<number> {
    const count = await redriveDeadLetters(this.subscription.transaction, this.subscription.queue);
    this.#wake.poke();
    return count;
  }

  countDeadLetters(): Promise<number> {
    return localDeadLetters(this.subscription.transaction).count(this.subscription.queue);
  }

  async close(graceMs: number): Promise<void> {
    this.#stopped.abort();
    this.#wake.poke();
    await this.#loop;
    this.#handlers.abort();
    await this.#handlers.drain(graceMs);
    // If all handlers have ended in time, this waits until their results are stored.
    if (this.#handlers.size === 0) await Promise.all([...this.#inProgress].map(({ done }) => done));
    this.#opened();
  }

  async #run(): Promise<void> {
    let failures = 0;
    let recovered = false;
    while (!this.#stopped.signal.aborted) {
      try {
        if (!recovered) await this.#recover();
        recovered = true;
        this.#opened();
        const claimed = await this.#claim();
        failures = 0;
        for (const delivery of claimed) this.#begin(delivery);
        if (claimed.length === 0) await this.#wake.wait(pollMs);
      } catch (error) {
        recovered = false;
        await this.#pauseAfter(error, failures++);
      }
    }
  }

  async #recover(): Promise<void> {
    const leased = [...this.#inProgress].map(({ messageId }) => messageId);
    await this.subscription.transaction((tx) => releaseLeases(tx, this.subscription.queue, leased));
  }

  async #pauseAfter(error: unknown, attempt: number): Promise<void> {
    this.#report({ name: 'subscription-lost', fields: { queue: this.subscription.queue, reason: reasonOf(error) } });
    await this.#clock.sleep(backoffMs({ attempt, ...reconnectBackoff }, this.#random), this.#stopped.signal);
  }

  async #claim(): Promise<LocalDelivery[]> {
    const limit = (this.subscription.prefetch ?? prefetchDefault) - this.#inProgress.size;
    if (limit <= 0) return [];
    return this.subscription.transaction((tx) => claim(tx, this.subscription.queue, { limit, leaseMs }));
  }

  #begin(delivery: LocalDelivery): void {
    const entry = { messageId: delivery.messageId, done: this.#handle(delivery) };
    this.#inProgress.add(entry);
    void entry.done.finally(() => {
      this.#inProgress.delete(entry);
      this.#wake.poke();
    });
  }

  async #handle(delivery: LocalDelivery): Promise<void> {
    const ended = new AbortController();
    void this.#keepLease(delivery, ended.signal);
    const disposition = await this.#handlers.handle({ ...delivery, id: delivery.messageId });
    ended.abort();
    for (let failures = 0; ; failures += 1) {
      try {
        return await this.#write(delivery, disposition);
      } catch (error) {
        // After the stop, the lease expires and the message is delivered again. The inbox, or the handler's own lease,
        // prevents a second effect.
        if (this.#stopped.signal.aborted) return;
        await this.#pauseAfter(error, failures);
      }
    }
  }

  async #write(delivery: LocalDelivery, disposition: Disposition): Promise<void> {
    const { transaction, queue } = this.subscription;
    switch (disposition.kind) {
      case 'ack':
        return transaction((tx) => remove(tx, queue, delivery));
      case 'dead':
        return transaction((tx) => bury(tx, queue, delivery, disposition.reason));
      case 'retry':
        await transaction((tx) => hide(tx, queue, delivery, disposition.delayMs));
        void this.#clock.sleep(disposition.delayMs, this.#stopped.signal).then(() => this.#wake.poke());
        return;
      default:
        return disposition satisfies never;
    }
  }

  async #keepLease(delivery: LocalDelivery, ended: AbortSignal): Promise<void> {
    const { transaction, queue } = this.subscription;
    for (;;) {
      await this.#clock.sleep(leaseMs / 3, ended);
      if (ended.aborted) return;
      await transaction((tx) => hide(tx, queue, delivery, leaseMs)).catch(() => undefined);
    }
  }
}
