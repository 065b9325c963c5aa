import { instantOrNull, instantOf, UserId } from '@countersign/contracts';
import {
  EventFilter,
  NotificationType,
  type EmittedEvent,
  type Notification,
  type Subscription,
} from '@countersign/contracts/gateway';
import type * as delivery from '@countersign/delivery';
import type { StoredEvent } from '../store/emitted-events.ts';

export function subscriptionView(subscription: delivery.Subscription): Subscription {
  const { id, channel, target, eventTypes, failingSince, disabledReason, createdBy, createdAt } = subscription;
  return {
    id,
    channel,
    target,
    eventTypes: NotificationType.array().parse(eventTypes),
    filter: EventFilter.nullable().parse(subscription.filter),
    state: stateOf(subscription),
    failingSince: instantOrNull(failingSince),
    disabledReason,
    createdBy: UserId.parse(createdBy),
    createdAt: instantOf(createdAt),
  };
}

export function eventView({ id, type, dedupeKey, deliveries, emittedBy, emittedAt }: StoredEvent): EmittedEvent {
  return { id, type: NotificationType.parse(type), dedupeKey, deliveries, emittedBy, emittedAt: instantOf(emittedAt) };
}

function stateOf({ disabledAt, pausedAt, failingSince }: delivery.Subscription): Subscription['state'] {
  if (disabledAt !== null) return 'disabled';
  if (pausedAt !== null) return 'paused';
  return failingSince === null ? 'active' : 'failing';
}

export function notificationView(notification: delivery.Notification): Notification {
  const { id, subscriptionId, eventId, type, state, attempts, dueAt, lastError, createdAt, endedAt } = notification;
  return {
    ...{ id, subscriptionId, eventId },
    type: NotificationType.parse(type),
    state,
    attempts,
    nextAttemptAt: state === 'due' ? instantOf(dueAt) : null,
    lastError,
    createdAt: instantOf(createdAt),
    endedAt: instantOrNull(endedAt),
  };
}
