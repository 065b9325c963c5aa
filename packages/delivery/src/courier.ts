import type { KeyObject } from 'node:crypto';
import type { Queryable, Transaction } from '@countersign/messaging';
import { letGo, keepOutcome, takeRounds, type Round } from './round.ts';
import type { Subscription } from './subscriptions.ts';
import { liveSecrets } from './webhook-secret.ts';
import type { Outcome, WebhookPost } from './webhook-post.ts';

export type MailNotification = { id: string; to: string; owner: string; type: string; body: string };

type CourierOptions<Tx extends Queryable> = {
  /** In the schema of the service whose notifications these are. */
  transaction: Transaction<Tx>;
  /** Secrets of webhooks follow from it. */
  secretKey: KeyObject;
  post: WebhookPost;
  /** `gone`: this mailbox may not be told any more. Rejects when the mail could not be sent. */
  mail(notification: MailNotification): Promise<'sent' | 'gone'>;
  /** Called once for each subscription that was given up, in the transaction that does it. */
  onGivenUp(tx: Tx, subscription: Subscription): Promise<void>;
  /** The clock of the database: with a wrong process clock, receivers would wait too long. */
  now(): Date | Promise<Date>;
  random?: () => number;
};

/** They wait for receivers, and cost next to nothing while they do. */
const roundsAtOnce = 32;
/** The time of one post at most: a receiver that is slow with each of them gives way to others. */
const roundMs = 15_000;
/** Longer than a round can take. */
const heldMs = 180_000;

/**
 * Brings notifications to their receivers, at least once each and under one id. Any number of processes may do this: a subscription is held by one
 * of them at a time, and let go by the clock when its holder dies.
 */
export class Courier<Tx extends Queryable = Queryable> {
  readonly #options: Required<CourierOptions<Tx>>;
  #rounds = 0;

  constructor(options: CourierOptions<Tx>) {
    this.#options = { random: Math.random, ...options };
  }

  /**
   * One pass over what is due, as far as other passes leave room for it: they need not wait for each other. Resolves to how many attempts it made;
   * aborting `signal` ends the posts that are under way.
   */
  async pass(signal: AbortSignal): Promise<number> {
    const rounds = await this.#takeRounds();
    const made = await Promise.all(
      rounds.map((round) => this.#deliver(round, signal).finally(() => (this.#rounds -= 1))),
    );
    return made.reduce((sum, count) => sum + count, 0);
  }

  /** Takes the room before it asks, so that passes do not pile up before a database that does not answer. */
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
      // An attempt that we cut off does not count as an attempt of the receiver.
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
    return { kind: 'failed', error: 'the mail was not taken' };
  }
}
