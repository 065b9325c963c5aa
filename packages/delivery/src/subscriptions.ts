import type { Queryable } from '@countersign/messaging';

export type Channel = 'webhook' | 'mail';

export type EventFilter = Record<string, string | number | boolean>;

export type Subscription = {
  id: string;
  /** The owner of its notifications: a workspace, an organisation. */
  owner: string;
  channel: Channel;
  /** An https address, or a mail address. */
  target: string;
  eventTypes: string[];
  secretVersion: number;
  rotatedAt: Date | null;
  /** Since when nothing has arrived; null while things do. */
  failingSince: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  /** Members of the data of an event with the values that they must have. `null`: each event of the types matches. */
  filter: EventFilter | null;
  /** `null` unless the subscription is paused. */
  pausedAt: Date | null;
  createdBy: string;
  createdAt: Date;
};

type NewSubscription = Pick<
  Subscription,
  'id' | 'owner' | 'channel' | 'target' | 'eventTypes' | 'filter' | 'pausedAt' | 'createdBy' | 'createdAt'
>;

/** `hasNewSecret`: the receiver does not know the secret yet. */
type Added = { subscription: Subscription; hasNewSecret: boolean };

/**
 * Adds a subscription, or changes the one of this owner, channel and target. Its types, filter and pause are replaced,
 * its maker is the last caller, and a disabled one is enabled again. The secret stays, unless a disabled one had
 * another maker. False: the owner has `max` of them already.
 */
export async function addSubscription(tx: Queryable, wanted: NewSubscription, max: number): Promise<Added | false> {
  const { id, owner, channel, target, eventTypes, filter, pausedAt, createdBy, createdAt } = wanted;
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('subscriptions of ' || $1, 0))::text`, [owner]);
  const { rows: subscribed } = await tx.query(
    `SELECT channel, target, secret_version FROM subscriptions WHERE owner = $1`,
    [owner],
  );
  const before = subscribed.find((row) => row['channel'] === channel && row['target'] === target);
  if (before === undefined && subscribed.length >= max) return false;
  const { rows } = await tx.query(
    `INSERT INTO subscriptions (id, owner, channel, target, event_types, filter, paused_at, created_by, created_at)
     VALUES ($1, $2, $3, $4, $5::text[], $6::jsonb, $7::timestamptz, $8, $9::timestamptz)
     ON CONFLICT (owner, channel, target) DO UPDATE
       SET event_types = excluded.event_types, filter = excluded.filter, paused_at = excluded.paused_at, disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, created_by = excluded.created_by,
           secret_version = CASE WHEN ${isAnothers} THEN subscriptions.secret_version + 1 ELSE subscriptions.secret_version END,
           rotated_at = CASE WHEN ${isAnothers} THEN NULL ELSE subscriptions.rotated_at END
     RETURNING ${columns}`,
    [
      id,
      owner,
      channel,
      target,
      eventTypes,
      filter === null ? null : JSON.stringify(filter),
      pausedAt,
      createdBy,
      createdAt,
    ],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('A subscription that was written was not answered');
  const subscription = subscriptionOf(row);
  return { subscription, hasNewSecret: Number(before?.['secret_version']) !== subscription.secretVersion };
}

/**
 * Subscriptions whose secret must not sign any more: a rotated secret goes on signing for a day only for the same
 * maker.
 */
const isAnothers = 'subscriptions.disabled_at IS NOT NULL AND subscriptions.created_by <> excluded.created_by';

/** The webhooks of one maker, among the active ones: they are sent nothing more. Each can be asked for again. */
export async function disableWebhooksOf(
  tx: Queryable,
  { owner, createdBy, reason, now }: { owner: string; createdBy: string; reason: string; now: Date },
): Promise<Subscription[]> {
  const { rows } = await tx.query(
    `UPDATE subscriptions SET disabled_at = $3::timestamptz, disabled_reason = $4
      WHERE owner = $1 AND created_by = $2 AND channel = 'webhook' AND disabled_at IS NULL RETURNING ${columns}`,
    [owner, createdBy, now, reason],
  );
  const disabled = rows.map(subscriptionOf);
  for (const { id } of disabled) await failDue(tx, id, now);
  return disabled;
}

/** Nothing waits for a receiver that is told nothing more; each can be tried again when it is back. */
export async function failDue(tx: Queryable, subscriptionId: string, now: Date): Promise<void> {
  await tx.query(
    `UPDATE notifications SET state = 'failed', ended_at = $2::timestamptz WHERE subscription_id = $1 AND state = 'due'`,
    [subscriptionId, now],
  );
}

/** All of an owner, oldest first: an owner has few. */
export async function listSubscriptions(reader: Queryable, owner: string): Promise<Subscription[]> {
  const { rows } = await reader.query(`SELECT ${columns} FROM subscriptions WHERE owner = $1 ORDER BY id`, [owner]);
  return rows.map(subscriptionOf);
}

/** Undelivered notifications are deleted with it. False when the owner has no such subscription. */
export async function endSubscription(tx: Queryable, { owner, id }: { owner: string; id: string }): Promise<boolean> {
  const { rows } = await tx.query(`DELETE FROM subscriptions WHERE owner = $1 AND id = $2 RETURNING id`, [owner, id]);
  return rows.length > 0;
}

/** A new secret; the one before it signs beside it for a day. Null when the owner has no such subscription. */
export async function rotateSecret(
  tx: Queryable,
  { owner, id, now }: { owner: string; id: string; now: Date },
): Promise<Subscription | null> {
  const { rows } = await tx.query(
    `UPDATE subscriptions SET secret_version = secret_version + 1, rotated_at = $3::timestamptz
      WHERE owner = $1 AND id = $2 AND channel = 'webhook' RETURNING ${columns}`,
    [owner, id, now],
  );
  return rows[0] === undefined ? null : subscriptionOf(rows[0]);
}

const columns = `id, owner, channel, target, event_types, secret_version, rotated_at, failing_since, disabled_at, disabled_reason, filter, paused_at, created_by, created_at`;

export function subscriptionOf(row: Record<string, unknown>): Subscription {
  return {
    id: String(row['id']),
    owner: String(row['owner']),
    channel: row['channel'] === 'mail' ? 'mail' : 'webhook',
    target: String(row['target']),
    eventTypes: (row['event_types'] as unknown[]).map(String), // TEXT[] NOT NULL
    secretVersion: Number(row['secret_version']),
    rotatedAt: dateOf(row['rotated_at']),
    failingSince: dateOf(row['failing_since']),
    disabledAt: dateOf(row['disabled_at']),
    disabledReason: row['disabled_reason'] === null ? null : String(row['disabled_reason']),
    filter: row['filter'] as EventFilter | null, // written by addSubscription alone
    pausedAt: dateOf(row['paused_at']),
    createdBy: String(row['created_by']),
    createdAt: dateOf(row['created_at']) ?? new Date(0),
  };
}

function dateOf(value: unknown): Date | null {
  return value instanceof Date ? value : null;
}
