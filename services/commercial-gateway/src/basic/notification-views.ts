import type { BasicDelivery, BasicSubscription } from '@countersign/contracts/commercial-gateway';
import type { Notification, Subscription } from '@countersign/contracts/gateway';

/** Returns a notification subscription of the gateway with the member names of the basic API. */
export function subscriptionView({ id, eventTypes, state, ...subscription }: Subscription): BasicSubscription {
  const { channel, target, filter } = subscription;
  return {
    ...{ subscription_id: id, channel, target, event_types: eventTypes, filter, status: state },
    failing_since: subscription.failingSince,
    disabled_reason: subscription.disabledReason,
    created_by: subscription.createdBy,
    created_at: subscription.createdAt,
  };
}

export function deliveryView({ id, subscriptionId, eventId, ...notification }: Notification): BasicDelivery {
  const { type, state, attempts } = notification;
  return {
    ...{ delivery_id: id, subscription_id: subscriptionId, event_id: eventId, type, state, attempts },
    next_attempt_at: notification.nextAttemptAt,
    last_error: notification.lastError,
    created_at: notification.createdAt,
    ended_at: notification.endedAt,
  };
}
