import { AppError } from '@countersign/contracts';
import type { EventFilter, NotificationType } from '@countersign/contracts/gateway';
import * as delivery from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { notFound } from '../not-found.ts';
import { newId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { isMemberAddress } from '../store/members.ts';
import { holdRight } from '../members/hold-role.ts';

type Deps = Pick<Context, 'now' | 'transaction'>;

/** Each event may notify each subscription, so only few are permitted. */
const subscriptionsMax = 20;

type By = { caller: WorkspaceCaller; requestId: string };
type Wanted = {
  channel: delivery.Channel;
  target: string;
  eventTypes: NotificationType[];
  filter: EventFilter | null;
  status: 'active' | 'paused';
};
type Stored = Exclude<Awaited<ReturnType<typeof delivery.addSubscription>>, false>;

/** Throws NOT_FOUND for a mailbox that belongs to no member, and RATE_LIMITED above the limit. */
export async function subscribe(context: Deps, wanted: Wanted, by: By): Promise<Stored> {
  const { workspaceId, user } = by.caller;
  return context.transaction(async (tx) => {
    await holdRight(tx, by.caller, 'notification.manage');
    const { channel, target, eventTypes, filter, status } = wanted;
    if (channel === 'mail' && !(await isMemberAddress(tx, workspaceId, target)))
      throw new AppError('NOT_FOUND', 'No member has this address. Invite the person first', { param: 'target' });
    const now = context.now();
    const made = { pausedAt: status === 'paused' ? now : null, createdBy: user.id, createdAt: now };
    const input = { id: newId('sub'), owner: workspaceId, channel, target, eventTypes, filter, ...made };
    const stored = await delivery.addSubscription(queryableOf(tx), input, subscriptionsMax);
    if (stored === false)
      throw new AppError(
        'RATE_LIMITED',
        `The workspace has ${subscriptionsMax} subscriptions, which is the limit. End one first`,
      );
    const details = { channel, eventTypes, filter, status };
    const subject = stored.subscription.id;
    await audit(tx, context, { ...by, action: 'subscription.created', subject, details });
    return stored;
  });
}

/** Throws NOT_FOUND. */
export async function unsubscribe(context: Deps, subscriptionId: string, by: By): Promise<void> {
  await context.transaction(async (tx) => {
    await holdRight(tx, by.caller, 'notification.manage');
    const ended = await delivery.endSubscription(queryableOf(tx), { owner: by.caller.workspaceId, id: subscriptionId });
    if (!ended) throw notFound();
    await audit(tx, context, { ...by, action: 'subscription.ended', subject: subscriptionId });
  });
}

/** Throws NOT_FOUND, also for a mailbox, which has no secret. */
export async function rotateSecret(context: Deps, subscriptionId: string, by: By): Promise<delivery.Subscription> {
  return context.transaction(async (tx) => {
    await holdRight(tx, by.caller, 'notification.manage');
    const named = { owner: by.caller.workspaceId, id: subscriptionId, now: context.now() };
    const rotated = await delivery.rotateSecret(queryableOf(tx), named);
    if (rotated === null) throw notFound();
    await audit(tx, context, { ...by, action: 'subscription.secret_rotated', subject: subscriptionId });
    return rotated;
  });
}

/** `subscriptionId` is `null` when any subscription of the workspace is meant. */
type Named = { subscriptionId: string | null; notificationId: string };

/** Throws NOT_FOUND, and ILLEGAL_TRANSITION while the notification is still being retried. */
export async function redrive(
  context: Pick<Context, 'now' | 'databaseNow' | 'transaction'>,
  { subscriptionId, notificationId: id }: Named,
  by: By,
): Promise<delivery.Notification> {
  return context.transaction(async (tx) => {
    await holdRight(tx, by.caller, 'notification.manage');
    const queryable = queryableOf(tx);
    const place = { owner: by.caller.workspaceId, subscriptionId, id };
    const redriven = await delivery.redrive(queryable, { ...place, now: await context.databaseNow(tx) });
    if (redriven === null) {
      if (!(await delivery.hasNotification(queryable, place))) throw notFound();
      throw new AppError('ILLEGAL_TRANSITION', 'The delivery is still being retried. Wait until it has failed');
    }
    const details = { subscriptionId: redriven.subscriptionId };
    await audit(tx, context, { ...by, action: 'notification.redriven', subject: id, details });
    return redriven;
  });
}

type Audited = By & { action: string; subject: string; details?: Parameters<typeof recordAudit>[1]['details'] };

async function audit(tx: Tx, context: Pick<Context, 'now'>, change: Audited): Promise<void> {
  const { caller, requestId, action, subject, details = {} } = change;
  const event = { workspaceId: caller.workspaceId, action, actor: caller.actor, requestId } as const;
  await recordAudit(tx, { ...event, verdict: 'allow', subject, details }, context.now());
}
