import type { Clock } from './clock.ts';
import { handleDelivery, type Disposition } from './inbox.ts';
import type { Report, Subscription } from './message-bus.ts';

// Five minutes below RabbitMQ's consumer time-out, so that the handler can stop and its result can arrive.
const handlerTimeoutMs = 25 * 60_000;
// Below the 30 s that Kubernetes and Compose wait before they kill a process.
export const graceMsDefault = 25_000;
export const prefetchDefault = 10;

/** The running handlers of one subscription, for both drivers: time-out, abort and drain. */
export class RunningDeliveries {
  readonly #subscription: Subscription;
  readonly #context: { clock: Clock; random: () => number; report: Report };
  readonly #running = new Set<{ controller: AbortController; done: Promise<Disposition> }>();

  constructor(subscription: Subscription, context: { clock: Clock; random: () => number; report: Report }) {
    this.#subscription = subscription;
    this.#context = context;
  }

  get size(): number {
    return this.#running.size;
  }

  /** Never rejects. */
  async handle({ body, number, id }: { body: string; number: number; id: string }): Promise<Disposition> {
    const { clock, random } = this.#context;
    const controller = new AbortController();
    const finished = new AbortController();
    const done = handleDelivery(this.#subscription, { body, delivery: { number, signal: controller.signal }, random });
    const entry = { controller, done };
    this.#running.add(entry);
    void clock.sleep(this.#subscription.timeoutMs ?? handlerTimeoutMs, finished.signal).then(() => controller.abort());
    const disposition = await done;
    finished.abort();
    this.#running.delete(entry);
    this.#tell(disposition, { id, number });
    return disposition;
  }

  /** Requests all running handlers to stop. */
  abort(): void {
    for (const { controller } of this.#running) controller.abort();
  }

  /** Resolves when the currently running handlers have ended, or after `graceMs`. */
  async drain(graceMs: number): Promise<void> {
    const drained = new AbortController();
    void Promise.all([...this.#running].map(({ done }) => done)).then(() => drained.abort());
    await this.#context.clock.sleep(graceMs, drained.signal);
  }

  #tell(disposition: Disposition, { id, number }: { id: string; number: number }): void {
    if (disposition.kind === 'ack' || disposition.reason === null) return;
    const name = disposition.kind === 'dead' ? 'dead-lettered' : 'delivery-retried';
    this.#context.report({ name, fields: { queue: this.#subscription.queue, id, number, reason: disposition.reason } });
  }
}
