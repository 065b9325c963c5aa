import { UserId } from '@countersign/contracts';
import { NotificationType, type Notification, type Subscription } from '@countersign/contracts/gateway';
import type * as delivery from '@countersign/delivery';
import { instant, instantOrNull } from '../store/instant.ts';

export function subscriptionView(subscription: delivery.Subscription): Subscription {
  const { id, channel, target, eventTypes, failingSince, disabledReason, createdBy, createdAt } = subscription;
  return {
    id,
    channel,
    target,
    eventTypes: NotificationType.array().parse(eventTypes),
    state: stateOf(subscription),
    failingSince: instantOrNull(failingSince),
    disabledReason,
    createdBy: UserId.parse(createdBy),
    createdAt: instant(createdAt),
  };
}

function stateOf({ disabledAt, failingSince }: delivery.Subscription): Subscription['state'] {
  if (disabledAt !== null) return 'disabled';
  return failingSince === null ? 'active' : 'failing';
}

export function notificationView(notification: delivery.Notification): Notification {
  const { id, type, state, attempts, dueAt, lastError, createdAt, endedAt } = notification;
  return {
    id,
    type: NotificationType.parse(type),
    state,
    attempts,
    nextAttemptAt: state === 'due' ? instant(dueAt) : null,
    lastError,
    createdAt: instant(createdAt),
    endedAt: instantOrNull(endedAt),
  };
}
