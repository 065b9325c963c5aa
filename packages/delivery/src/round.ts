import type { Queryable } from '@countersign/messaging';
import { givenUpAfterMs, waitMsAfter } from './retry-schedule.ts';
import { failDue, subscriptionOf, type Subscription } from './subscriptions.ts';
import type { Outcome } from './webhook-post.ts';

/** One subscription with its next notifications, reserved by this process. */
export type Round = {
  subscription: Subscription;
  notifications: { id: string; type: string; body: string; attempts: number }[];
};

const perRound = 10;
/** Maximum number of concurrent rounds per owner, so that slow receivers delay only notifications of their owner. */
const perOwner = 4;

/**
 * Subscriptions with unfinished notifications. The query needs one index look-up per subscription, whatever the number
 * of notifications.
 */
const waiting = `WITH RECURSIVE waiting (id) AS (
  (SELECT subscription_id FROM notifications WHERE state = 'due' ORDER BY subscription_id LIMIT 1)
  UNION ALL
  SELECT (SELECT subscription_id FROM notifications WHERE state = 'due' AND subscription_id > waiting.id ORDER BY subscription_id LIMIT 1)
    FROM waiting WHERE waiting.id IS NOT NULL)`;

/**
 * Reserves subscriptions with a due notification that no other process has reserved: the least recently served first,
 * and few of one owner. If the process dies, the reservation ends at `until`.
 */
export async function takeRounds(
  tx: Queryable,
  { now, until, limit }: { now: Date; until: Date; limit: number },
): Promise<Round[]> {
  const { rows } = await tx.query(
    `UPDATE subscriptions SET busy_until = $2::timestamptz
      WHERE id IN (SELECT id FROM subscriptions
                    WHERE (busy_until IS NULL OR busy_until <= $1::timestamptz) AND disabled_at IS NULL AND paused_at IS NULL
                      AND id IN (${waiting}
                        SELECT id FROM (
                          SELECT sub.id, sub.busy_until,
                                 row_number() OVER (PARTITION BY sub.owner ORDER BY sub.busy_until NULLS FIRST, sub.id)
                                   + (SELECT count(*) FROM subscriptions AS held WHERE held.owner = sub.owner AND held.busy_until > $1::timestamptz) AS place
                            FROM waiting JOIN subscriptions AS sub ON sub.id = waiting.id
                           WHERE (sub.busy_until IS NULL OR sub.busy_until <= $1::timestamptz) AND sub.disabled_at IS NULL AND sub.paused_at IS NULL
                             AND EXISTS (SELECT FROM notifications
                                          WHERE subscription_id = sub.id AND state = 'due' AND due_at <= $1::timestamptz)) AS free
                         WHERE place <= ${perOwner} ORDER BY place, busy_until NULLS FIRST LIMIT $3)
                      FOR UPDATE SKIP LOCKED)
      RETURNING *`,
    [now, until, limit],
  );
  const rounds: Round[] = [];
  for (const row of rows) rounds.push(await roundOf(tx, subscriptionOf(row), now));
  return rounds;
}

async function roundOf(tx: Queryable, subscription: Subscription, now: Date): Promise<Round> {
  const { rows } = await tx.query(
    `SELECT id, type, body, attempts FROM notifications
      WHERE subscription_id = $1 AND state = 'due' AND due_at <= $2::timestamptz ORDER BY due_at, id LIMIT ${perRound}`,
    [subscription.id, now],
  );
  const notifications = rows.map((row) => ({
    id: String(row['id']),
    type: String(row['type']),
    body: String(row['body']),
    attempts: Number(row['attempts']),
  }));
  return { subscription, notifications };
}

/** Ends the reservation. `busy_until` is then also the time when the subscription was last served. */
export async function letGo(tx: Queryable, { id, now }: { id: string; now: Date }): Promise<void> {
  await tx.query(`UPDATE subscriptions SET busy_until = $2::timestamptz WHERE id = $1`, [id, now]);
}

type Attempt = { subscription: Subscription; id: string; attempts: number; outcome: Outcome; now: Date };

/** Stores the outcome of one attempt. Returns true if the subscription was given up. */
export async function keepOutcome(tx: Queryable, attempt: Attempt, random: () => number): Promise<boolean> {
  const { subscription, id, outcome, now } = attempt;
  if (outcome.kind === 'delivered') {
    await tx.query(
      `UPDATE notifications SET state = 'delivered', attempts = attempts + 1, last_error = NULL, ended_at = $2::timestamptz WHERE id = $1`,
      [id, now],
    );
    if (subscription.failingSince !== null)
      await tx.query(`UPDATE subscriptions SET failing_since = NULL WHERE id = $1`, [subscription.id]);
    return false;
  }
  const error =
    outcome.kind === 'gone'
      ? 'the receiver accepts no more notifications (status 410, or an address without a member)'
      : outcome.error;
  await postpone(tx, { ...attempt, error }, random);
  const since = subscription.failingSince ?? now;
  const isGivenUp = outcome.kind === 'gone' || now.getTime() - since.getTime() >= givenUpAfterMs;
  await tx.query(
    // A subscription that was disabled during the attempt stays disabled.
    `UPDATE subscriptions SET failing_since = $2::timestamptz, disabled_at = coalesce(disabled_at, $3::timestamptz),
            disabled_reason = coalesce(disabled_reason, $4) WHERE id = $1`,
    [subscription.id, since, isGivenUp ? now : null, isGivenUp ? error : null],
  );
  if (isGivenUp) await failDue(tx, subscription.id, now);
  return isGivenUp;
}

/**
 * Delays this notification and those that are due before its next attempt, so that an unreachable receiver gets only
 * one attempt. After its last attempt, a notification fails.
 */
async function postpone(
  tx: Queryable,
  { subscription, id, attempts, now, error }: Attempt & { error: string },
  random: () => number,
): Promise<void> {
  const waitMs = waitMsAfter(attempts + 1, random);
  const dueAt = new Date(now.getTime() + (waitMs ?? 0));
  await tx.query(
    `UPDATE notifications SET attempts = attempts + 1, last_error = $2, due_at = $3::timestamptz, state = $4, ended_at = $5::timestamptz WHERE id = $1 AND state = 'due'`,
    [id, error, dueAt, waitMs === null ? 'failed' : 'due', waitMs === null ? now : null],
  );
  if (waitMs === null) return;
  await tx.query(
    `UPDATE notifications SET due_at = $2::timestamptz WHERE subscription_id = $1 AND state = 'due' AND due_at < $2::timestamptz`,
    [subscription.id, dueAt],
  );
}
