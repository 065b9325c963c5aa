import type { KeyObject } from 'node:crypto';
import type { Queryable, Transaction } from '@countersign/messaging';
import { letGo, keepOutcome, takeRounds, type Round } from './round.ts';
import type { Subscription } from './subscriptions.ts';
import { liveSecrets } from './webhook-secret.ts';
import type { Outcome, WebhookPost } from './webhook-post.ts';

export type MailNotification = { id: string; to: string; owner: string; type: string; body: string };

type CourierOptions<Tx extends Queryable> = {
  /** Runs a transaction in the schema of the service with the notifications. */
  transaction: Transaction<Tx>;
  /** Key from which the secrets of webhooks are derived. */
  secretKey: KeyObject;
  post: WebhookPost;
  /** Resolves to `gone` when this mailbox must not be notified again. Rejects when the mail could not be sent. */
  mail(notification: MailNotification): Promise<'sent' | 'gone'>;
  /** Called once for each subscription that is given up, in the transaction that disables it. */
  onGivenUp(tx: Tx, subscription: Subscription): Promise<void>;
  /** The clock of the database, because a wrong process clock could delay deliveries. */
  now(): Date | Promise<Date>;
  random?: () => number;
};

/** Maximum number of concurrent rounds. Rounds mostly wait for receivers, so they cost little. */
const roundsAtOnce = 32;
/** After this time, a round begins no further attempt, so that slow receivers do not block others. */
const roundMs = 15_000;
/** Time for which a round reserves its subscription. Longer than any round takes. */
const heldMs = 180_000;

/**
 * Delivers notifications to their receivers at least once, with the same id each time. Any number of processes may run
 * it. Only one of them reserves a subscription at a time, and the reservation expires when the process dies.
 */
export class Courier<Tx extends Queryable = Queryable> {
  readonly #options: Required<CourierOptions<Tx>>;
  #rounds = 0;

  constructor(options: CourierOptions<Tx>) {
    this.#options = { random: Math.random, ...options };
  }

  /**
   * Makes one pass over due notifications, within the limit on concurrent rounds. Passes may overlap. Resolves to the
   * number of attempts. Aborting `signal` ends running posts.
   */
  async pass(signal: AbortSignal): Promise<number> {
    const rounds = await this.#takeRounds();
    const made = await Promise.all(
      rounds.map((round) => this.#deliver(round, signal).finally(() => (this.#rounds -= 1))),
    );
    return made.reduce((sum, count) => sum + count, 0);
  }

  /** Counts the rounds as running before the query, so that passes do not pile up when the database does not answer. */
  async #takeRounds(): Promise<Round[]> {
    const { transaction, now } = this.#options;
    const limit = roundsAtOnce - this.#rounds;
    if (limit === 0) return [];
    this.#rounds += limit;
    let taken = 0;
    try {
      const at = await now();
      const until = new Date(at.getTime() + heldMs);
      const rounds = await transaction((tx) => takeRounds(tx, { now: at, until, limit }));
      taken = rounds.length;
      return rounds;
    } finally {
      this.#rounds -= limit - taken;
    }
  }

  async #deliver({ subscription, notifications }: Round, signal: AbortSignal): Promise<number> {
    const { now, transaction } = this.#options;
    const endsAtMs = (await now()).getTime() + roundMs;
    let made = 0;
    for (const notification of notifications) {
      const outcome = await this.#attempt(subscription, notification, signal);
      // An attempt that this process aborted does not count.
      if (signal.aborted) break;
      made += 1;
      await this.#keep(subscription, notification, outcome);
      if (outcome.kind !== 'delivered' || (await now()).getTime() >= endsAtMs) break;
    }
    const at = await now();
    await transaction((tx) => letGo(tx, { id: subscription.id, now: at }));
    return made;
  }

  async #attempt(
    subscription: Subscription,
    { id, type, body }: Round['notifications'][number],
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { post, mail, secretKey, now } = this.#options;
    const { channel, target, owner } = subscription;
    if (channel === 'mail') return mailOutcome(mail({ id, to: target, owner, type, body }));
    const at = await now();
    const secrets = liveSecrets(secretKey, subscription, at);
    return post({ id, url: target, body, secrets, now: at }, signal);
  }

  async #keep(
    subscription: Subscription,
    { id, attempts }: Round['notifications'][number],
    outcome: Outcome,
  ): Promise<void> {
    const { transaction, onGivenUp, now, random } = this.#options;
    const at = await now();
    await transaction(async (tx) => {
      const isGivenUp = await keepOutcome(tx, { subscription, id, attempts, outcome, now: at }, random);
      if (isGivenUp) await onGivenUp(tx, subscription);
    });
  }
}

async function mailOutcome(sending: Promise<'sent' | 'gone'>): Promise<Outcome> {
  try {
    return { kind: (await sending) === 'sent' ? 'delivered' : 'gone' };
  } catch {
    // The cause is for the operator of the service, not for the subscriber.
    return { kind: 'failed', error: 'the mail server did not accept the mail' };
  }
}
