import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { CallMembers, Instant, storableText, UserId } from '../scalars.ts';
import { Done, PathId, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** Limits of subscriptions and of events that callers emit. */
export const notificationLimits = {
  /**
   * UTF-8 bytes of `data` as JSON. Receivers accept bodies of this size, and one event may go to each subscription of a
   * workspace.
   */
  dataBytesMax: 8_192,
  /** Events of a workspace in a minute. */
  eventsPerMinute: 120,
  /** An event is refused while one of its receivers has this many notifications waiting. */
  waitingMax: 1_000,
  filterMembersMax: 8,
} as const;

/** Events that a caller emits. The prefix separates them from events of the platform. */
export const AppEventType = z
  .string()
  .max(100)
  .regex(
    /^app(\.[a-z][a-z0-9_]*){1,5}$/,
    'must begin with app., followed by lower-case names that are separated by dots',
  );

/** The event types that a workspace can subscribe to. */
export const PlatformEventType = z.enum([
  'approval.requested',
  'approval.resolved',
  'run.ended',
  'violation.recorded',
  'incident.opened',
  'invite.created',
  'subscription.disabled',
]);
export type PlatformEventType = z.infer<typeof PlatformEventType>;

export const NotificationType = z.union([PlatformEventType, AppEventType]);
export type NotificationType = z.infer<typeof NotificationType>;

/** Names of members of an event's data, each with the value that the member must have. */
export const EventFilter = z
  .record(z.string().min(1).max(64), z.union([storableText({ max: 200 }), z.number(), z.boolean()]))
  .refine((filter) => Object.keys(filter).length <= notificationLimits.filterMembersMax, {
    message: `must have at most ${notificationLimits.filterMembersMax} members`,
  });
export type EventFilter = z.infer<typeof EventFilter>;

export const SubscriptionState = z.enum(['active', 'paused', 'failing', 'disabled']);

export const Subscription = z.strictObject({
  id: z.string(),
  channel: z.enum(['webhook', 'mail']),
  target: z.string(),
  eventTypes: z.array(NotificationType),
  /** Only events with these values in their data are sent. `null` for all events of the types. */
  filter: EventFilter.nullable(),
  /**
   * `paused`: no events are recorded, and waiting notifications are not sent. `failing`: the last attempt failed.
   * `disabled`: delivery has stopped after too many failures. Subscribe again to resume it.
   */
  state: SubscriptionState,
  failingSince: Instant.nullable(),
  disabledReason: z.string().nullable(),
  createdBy: UserId,
  createdAt: Instant,
});
export type Subscription = z.infer<typeof Subscription>;

export const WebhookEventTypes = z
  .array(NotificationType)
  .min(1)
  .max(32)
  .transform((types) => [...new Set(types)]);

/** Events of callers contain text of the caller, which mails of this product must not contain. */
export const MailEventTypes = z
  .array(PlatformEventType)
  .min(1)
  .max(PlatformEventType.options.length)
  .transform((types) => [...new Set(types)]);

export const SubscriptionTerms = {
  /** Only events with these values in their data are sent. Default `null`: all events of the types. */
  filter: EventFilter.nullable().optional(),
  /** Default `active`. */
  status: z.enum(['active', 'paused']).optional(),
};

const roomy = 2_048;
export const WebhookTarget = z
  .url({ protocol: /^https?$/ })
  .max(roomy)
  .refine((url) => !URL.canParse(url) || !/^[^/]*\/\/[^/?#]*@/.test(new URL(url).href), 'must hold no credentials');

/** The secret of a new subscription, `null` afterwards. A rotation creates another secret. */
const Secret = z
  .string()
  .regex(/^whsec_/)
  .nullable();

export const createSubscription = defineRoute({
  operation: 'create-subscription',
  summary:
    "Subscribe a webhook (Standard Webhooks 1.0) or a member's mailbox to events. For an existing target, this " +
    'changes the event types and enables it again.',
  method: 'POST',
  path: '/api/workspace/{id}/notifications',
  auth: 'owner',
  right: 'notification.manage',
  needsPresence: true,
  idempotency: { exempt: 'secret' },
  status: 201,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.discriminatedUnion('channel', [
    z.strictObject({
      ...WorkspaceBody,
      ...SubscriptionTerms,
      channel: z.literal('webhook'),
      target: WebhookTarget,
      eventTypes: WebhookEventTypes,
    }),
    z.strictObject({
      ...{ ...WorkspaceBody, ...SubscriptionTerms },
      channel: z.literal('mail'),
      target: EmailAddress,
      eventTypes: MailEventTypes,
    }),
  ]),
  reply: Subscription.extend({ secret: Secret }),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'RATE_LIMITED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listSubscriptions = defineRoute({
  operation: 'list-subscriptions',
  summary: 'List the webhooks and mailboxes that receive events of the workspace.',
  method: 'GET',
  path: '/api/workspace/{id}/notifications',
  auth: 'owner',
  right: 'notification.manage',
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  reply: camelPage(Subscription),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

const PathSubscription = PathId.extend({ subscriptionId: z.string().min(1).max(128) });

export const endSubscription = defineRoute({
  operation: 'end-subscription',
  summary: 'Delete a subscription and its undelivered notifications.',
  method: 'DELETE',
  path: '/api/workspace/{id}/notifications/{subscriptionId}',
  auth: 'owner',
  right: 'notification.manage',
  needsPresence: true,
  idempotency: { exempt: 'repeatable' },
  params: PathSubscription,
  query: z.strictObject(WorkspaceQuery),
  reply: Done,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const rotateWebhookSecret = defineRoute({
  operation: 'rotate-webhook-secret',
  summary: 'Create a new secret for a webhook. The previous secret also signs until `previousUntil`.',
  method: 'POST',
  path: '/api/workspace/{id}/notifications/{subscriptionId}/secret',
  auth: 'owner',
  right: 'notification.manage',
  needsPresence: true,
  idempotency: { exempt: 'secret' },
  params: PathSubscription,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject(WorkspaceBody).optional(),
  reply: z.strictObject({ secret: Secret, previousUntil: Instant }),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const Notification = z.strictObject({
  id: z.string(),
  subscriptionId: z.string(),
  /** The event that a caller emitted. `null` for events of the platform. */
  eventId: z.string().nullable(),
  type: NotificationType,
  state: z.enum(['due', 'delivered', 'failed']),
  attempts: z.int().min(0),
  /** The time of the next attempt. `null` when none is due. */
  nextAttemptAt: Instant.nullable(),
  lastError: z.string().nullable(),
  createdAt: Instant,
  endedAt: Instant.nullable(),
});
export type Notification = z.infer<typeof Notification>;

export const listNotifications = defineRoute({
  operation: 'list-notifications',
  summary: 'List the notifications sent to a target with their results, newest first.',
  method: 'GET',
  path: '/api/workspace/{id}/notifications/{subscriptionId}/sent',
  auth: 'owner',
  right: 'notification.manage',
  params: PathSubscription,
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery }),
  reply: camelPage(Notification),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const redriveNotification = defineRoute({
  operation: 'redrive-notification',
  summary: 'Retry a notification that has ended, under the same id.',
  method: 'POST',
  path: '/api/workspace/{id}/notifications/{subscriptionId}/sent/{notificationId}/redrive',
  auth: 'owner',
  right: 'notification.manage',
  idempotency: { exempt: 'repeatable' },
  params: PathSubscription.extend({ notificationId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject(WorkspaceBody).optional(),
  reply: Done,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const EventData = CallMembers.refine(
  (data) => new TextEncoder().encode(JSON.stringify(data)).length <= notificationLimits.dataBytesMax,
  `must have at most ${notificationLimits.dataBytesMax} bytes as JSON`,
);

const EmittedEvent = z.strictObject({
  id: z.string(),
  type: AppEventType,
  dedupeKey: z.string(),
  /** The number of recorded notifications, one for each matching subscription. */
  deliveries: z.int().min(0),
  emittedBy: z.string(),
  emittedAt: Instant,
});
export type EmittedEvent = z.infer<typeof EmittedEvent>;

export const emitEvent = defineRoute({
  operation: 'emit-event',
  summary:
    'Send an event of type `app.*` to the matching subscriptions of the workspace. Events are deduplicated by ' +
    '`dedupeKey` for seven days.',
  method: 'POST',
  path: '/api/workspace/{id}/notifications/emit',
  auth: 'partner',
  right: 'event.emit',
  keyScopes: ['write', 'basic:write'],
  idempotency: { exempt: 'named' },
  status: 202,
  bodyBytesMax: 20_000,
  bodyValuesMax: 1_000,
  params: PathId,
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject({
    ...WorkspaceBody,
    type: AppEventType,
    dedupeKey: storableText({ min: 1, max: 200 }),
    data: EventData,
  }),
  reply: EmittedEvent,
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'RATE_LIMITED', 'IDEMPOTENCY_KEY_REUSED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const listDeliveries = defineRoute({
  operation: 'list-deliveries',
  summary: 'List the notifications of the workspace with their delivery results, newest first.',
  method: 'GET',
  path: '/api/workspace/{id}/deliveries',
  auth: 'owner',
  right: 'notification.manage',
  params: PathId,
  query: z.strictObject({ ...WorkspaceQuery, ...PageQuery, subscriptionId: z.string().min(1).max(128).optional() }),
  reply: camelPage(Notification),
  errors: ['NOT_FOUND', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});

export const redriveDelivery = defineRoute({
  operation: 'redrive-delivery',
  summary: 'Retry a notification that has ended, under the same id.',
  method: 'POST',
  path: '/api/workspace/{id}/deliveries/{deliveryId}/redrive',
  auth: 'owner',
  right: 'notification.manage',
  idempotency: { exempt: 'repeatable' },
  params: PathId.extend({ deliveryId: z.string().min(1).max(128) }),
  query: z.strictObject(WorkspaceQuery),
  body: z.strictObject(WorkspaceBody).optional(),
  reply: Notification,
  errors: ['NOT_FOUND', 'ILLEGAL_TRANSITION', 'PERMISSION_DENIED', 'WORKSPACE_CONTEXT_CONFLICT'],
});
