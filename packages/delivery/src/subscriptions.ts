import type { Queryable } from '@countersign/messaging';

export type Channel = 'webhook' | 'mail';

export type EventFilter = Record<string, string | number | boolean>;

export type Subscription = {
  id: string;
  /** The owner of its notifications: a workspace or an organisation. */
  owner: string;
  channel: Channel;
  /** An https URL or a mail address. */
  target: string;
  eventTypes: string[];
  secretVersion: number;
  rotatedAt: Date | null;
  /** Start of the current failures. `null` while deliveries succeed. */
  failingSince: Date | null;
  disabledAt: Date | null;
  disabledReason: string | null;
  /** Members of the event data and their required values. `null` when all events of the types match. */
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

/** `hasNewSecret` is true when the receiver does not have the current secret yet. */
type Added = { subscription: Subscription; hasNewSecret: boolean };

/**
 * Adds a subscription, or changes the existing one with this owner, channel and target. It replaces types, filter,
 * pause and creator, and enables a disabled subscription. The secret stays, unless the subscription was disabled and
 * had a different creator. Returns false when a new subscription would exceed `max` for the owner.
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
  if (row === undefined) throw new Error('The database did not return the written subscription');
  const subscription = subscriptionOf(row);
  return { subscription, hasNewSecret: Number(before?.['secret_version']) !== subscription.secretVersion };
}

/**
 * Selects a disabled subscription of a different creator. Enabling it gives it a new secret, and the previous one stops
 * signing at once.
 */
const isAnothers = 'subscriptions.disabled_at IS NOT NULL AND subscriptions.created_by <> excluded.created_by';

/** Disables the active webhooks of one creator, and ends their due notifications. Adding a webhook again enables it. */
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

/** Ends the due notifications of a disabled subscription. Each can be redriven later. */
export async function failDue(tx: Queryable, subscriptionId: string, now: Date): Promise<void> {
  await tx.query(
    `UPDATE notifications SET state = 'failed', ended_at = $2::timestamptz WHERE subscription_id = $1 AND state = 'due'`,
    [subscriptionId, now],
  );
}

/** All subscriptions of an owner, oldest first. An owner has few. */
export async function listSubscriptions(reader: Queryable, owner: string): Promise<Subscription[]> {
  const { rows } = await reader.query(`SELECT ${columns} FROM subscriptions WHERE owner = $1 ORDER BY id`, [owner]);
  return rows.map(subscriptionOf);
}

/** Deletes a subscription with all its notifications. Returns false when the owner has no such subscription. */
export async function endSubscription(tx: Queryable, { owner, id }: { owner: string; id: string }): Promise<boolean> {
  const { rows } = await tx.query(`DELETE FROM subscriptions WHERE owner = $1 AND id = $2 RETURNING id`, [owner, id]);
  return rows.length > 0;
}

/** Creates a new secret. The previous one also signs for a day. `null` when the owner has no such webhook. */
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
    filter: row['filter'] as EventFilter | null, // only addSubscription writes it
    pausedAt: dateOf(row['paused_at']),
    createdBy: String(row['created_by']),
    createdAt: dateOf(row['created_at']) ?? new Date(0),
  };
}

function dateOf(value: unknown): Date | null {
  return value instanceof Date ? value : null;
}
