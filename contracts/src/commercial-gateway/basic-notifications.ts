import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import {
  AppEventType,
  createSubscription,
  emitEvent,
  EventData,
  EventFilter,
  listDeliveries,
  listSubscriptions,
  MailEventTypes,
  NotificationType,
  redriveDelivery,
  SubscriptionState,
  SubscriptionTerms,
  WebhookEventTypes,
  WebhookTarget,
} from '../gateway/notifications.ts';
import { page, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, storableText, UserId } from '../scalars.ts';
import { gatesOf } from './second-door.ts';

const BasicSubscription = z.strictObject({
  subscription_id: z.string(),
  channel: z.enum(['webhook', 'mail']),
  target: z.string(),
  event_types: z.array(NotificationType),
  /** Only events with these values in their data are sent. `null` for all events of the types. */
  filter: EventFilter.nullable(),
  /**
   * `failing`: the last attempt failed. `disabled`: delivery has stopped after too many failures. Subscribe again to
   * resume it.
   */
  status: SubscriptionState,
  failing_since: Instant.nullable(),
  disabled_reason: z.string().nullable(),
  created_by: UserId,
  created_at: Instant,
});
export type BasicSubscription = z.infer<typeof BasicSubscription>;

export const listBasicSubscriptions = defineRoute({
  ...gatesOf(listSubscriptions),
  operation: 'list-basic-subscriptions',
  summary: 'List the webhooks and mailboxes that receive events of the workspace, at most twenty.',
  method: 'GET',
  path: '/api/basic/notifications/subscribe',
  reply: page(BasicSubscription),
});

export const putBasicSubscription = defineRoute({
  ...gatesOf(createSubscription),
  operation: 'put-basic-subscription',
  summary:
    "Subscribe a webhook (Standard Webhooks 1.0) or a member's mailbox, or change its subscription. A new secret " +
    'is returned only once. Only webhooks receive events of type `app.*`.',
  method: 'POST',
  idempotency: { exempt: 'secret' },
  path: '/api/basic/notifications/subscribe',
  body: z.discriminatedUnion('channel', [
    z.strictObject({
      ...SubscriptionTerms,
      channel: z.literal('webhook'),
      target: WebhookTarget,
      event_types: WebhookEventTypes,
    }),
    z.strictObject({
      ...SubscriptionTerms,
      channel: z.literal('mail'),
      target: EmailAddress,
      event_types: MailEventTypes,
    }),
  ]),
  reply: BasicSubscription.extend({ secret: z.string().nullable() }),
});

const BasicEvent = z.strictObject({
  event_id: z.string(),
  type: NotificationType,
  dedupe_key: z.string(),
  /** How many notifications were recorded for the event, one for each matching subscription. */
  deliveries: z.int().min(0),
  emitted_by: z.string(),
  emitted_at: Instant,
});

export const emitBasicEvent = defineRoute({
  ...gatesOf(emitEvent),
  operation: 'emit-basic-event',
  summary:
    'Send an event of type `app.*` to the matching subscriptions of the workspace. Events are deduplicated by ' +
    '`dedupe_key` for seven days.',
  method: 'POST',
  idempotency: { exempt: 'named' },
  path: '/api/basic/notifications/emit',
  bodyValuesMax: 1_000,
  body: z.strictObject({
    type: AppEventType,
    dedupe_key: storableText({ min: 1, max: 200 }),
    data: EventData,
  }),
  reply: BasicEvent,
});

const BasicDelivery = z.strictObject({
  /** The `webhook-id` of the requests of this delivery. It stays the same when the delivery is redriven. */
  delivery_id: z.string(),
  subscription_id: z.string(),
  /** `null` for an event of the platform. */
  event_id: z.string().nullable(),
  type: NotificationType,
  state: z.enum(['due', 'delivered', 'failed']),
  attempts: z.int().min(0),
  next_attempt_at: Instant.nullable(),
  last_error: z.string().nullable(),
  created_at: Instant,
  ended_at: Instant.nullable(),
});
export type BasicDelivery = z.infer<typeof BasicDelivery>;

export const listBasicDeliveries = defineRoute({
  ...gatesOf(listDeliveries),
  operation: 'list-basic-deliveries',
  summary: 'List the deliveries of the workspace or of one subscription, newest first.',
  method: 'GET',
  path: '/api/basic/notifications/deliveries',
  query: z.strictObject({ ...PageQuery, subscription_id: z.string().min(1).max(128).optional() }),
  reply: page(BasicDelivery),
});

export const redriveBasicDelivery = defineRoute({
  ...gatesOf(redriveDelivery),
  operation: 'redrive-basic-delivery',
  summary: 'Retry a delivery that has ended, under the same id.',
  method: 'POST',
  idempotency: { exempt: 'repeatable' },
  path: '/api/basic/notifications/deliveries/{delivery_id}/redrive',
  params: z.strictObject({ delivery_id: z.string().min(1).max(128) }),
  reply: BasicDelivery,
});
