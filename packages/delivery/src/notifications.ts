import type { Queryable } from '@countersign/messaging';

type NotificationState = 'due' | 'delivered' | 'failed';

export type Notification = {
  id: string;
  subscriptionId: string;
  /** `null` when the event was announced without an id. */
  eventId: string | null;
  type: string;
  state: NotificationState;
  attempts: number;
  /** Time of the next attempt, or of the last planned attempt. */
  dueAt: Date;
  lastError: string | null;
  createdAt: Date;
  endedAt: Date | null;
};

/** Limit of rows per statement, so that deliveries do not wait for the deletion. */
const forgottenAtOnce = 1_000;

type Listed = { owner: string; subscriptionId: string | null; before: string | null; limit: number };

/** Notifications of an owner or of one subscription, newest first, with ids below `before`. */
export async function listNotifications(
  reader: Queryable,
  { owner, subscriptionId, before, limit }: Listed,
): Promise<Notification[]> {
  const { rows } = await reader.query(
    `SELECT ${columns} FROM notifications
      WHERE owner = $1 ${subscriptionId === null ? 'AND $2::text IS NULL' : 'AND subscription_id = $2'}
        AND ($3::text IS NULL OR id < $3) ORDER BY id DESC LIMIT $4`,
    [owner, subscriptionId, before, limit],
  );
  return rows.map(notificationOf);
}

type Named = { owner: string; subscriptionId: string | null; id: string };

/**
 * Restarts the attempts of one notification under its id. `null` when it does not exist or still has attempts to come.
 */
export async function redrive(
  tx: Queryable,
  { owner, subscriptionId, id, now }: Named & { now: Date },
): Promise<Notification | null> {
  const { rows } = await tx.query(
    `UPDATE notifications SET state = 'due', attempts = 0, due_at = $4::timestamptz, ended_at = NULL
      WHERE owner = $1 AND ($2::text IS NULL OR subscription_id = $2) AND id = $3 AND state <> 'due' RETURNING ${columns}`,
    [owner, subscriptionId, id, now],
  );
  return rows[0] === undefined ? null : notificationOf(rows[0]);
}

/**
 * Deletes notifications that ended before the time `before`, up to a limit per call. Notifications with attempts to
 * come are never deleted.
 */
export async function forgetNotifications(tx: Queryable, before: Date): Promise<void> {
  await tx.query(
    `DELETE FROM notifications WHERE id IN
       (SELECT id FROM notifications WHERE ended_at < $1::timestamptz ORDER BY ended_at LIMIT ${forgottenAtOnce})`,
    [before],
  );
}

/** Whether a subscription of this owner has this notification. */
export async function hasNotification(reader: Queryable, { owner, subscriptionId, id }: Named): Promise<boolean> {
  const { rows } = await reader.query(
    `SELECT 1 FROM notifications WHERE owner = $1 AND ($2::text IS NULL OR subscription_id = $2) AND id = $3`,
    [owner, subscriptionId, id],
  );
  return rows.length > 0;
}

type Backlog = { owner: string; type: string; max: number };

/**
 * The id of an active subscription to this type with at least `max` waiting notifications. `null` when there is none.
 */
export async function findBacklog(tx: Queryable, { owner, type, max }: Backlog): Promise<string | null> {
  const { rows } = await tx.query(
    `SELECT id FROM subscriptions AS sub
      WHERE owner = $1 AND $2 = ANY(event_types) AND disabled_at IS NULL AND paused_at IS NULL
        AND EXISTS (SELECT FROM notifications WHERE subscription_id = sub.id AND state = 'due' OFFSET $3 LIMIT 1)
      LIMIT 1`,
    [owner, type, max - 1],
  );
  return rows[0] === undefined ? null : String(rows[0]['id']);
}

const columns = `id, subscription_id, event_id, type, state, attempts, due_at, last_error, created_at, ended_at`;

function notificationOf(row: Record<string, unknown>): Notification {
  return {
    id: String(row['id']),
    subscriptionId: String(row['subscription_id']),
    eventId: row['event_id'] === null ? null : String(row['event_id']),
    type: String(row['type']),
    state: row['state'] as NotificationState, // a CHECK constraint ensures it
    attempts: Number(row['attempts']),
    dueAt: row['due_at'] as Date, // TIMESTAMPTZ NOT NULL
    lastError: row['last_error'] === null ? null : String(row['last_error']),
    createdAt: row['created_at'] as Date, // TIMESTAMPTZ NOT NULL
    endedAt: row['ended_at'] as Date | null,
  };
}
