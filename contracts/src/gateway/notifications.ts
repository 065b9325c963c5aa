import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { CallMembers, Instant, storableText, UserId } from '../scalars.ts';
import { Done, PathId, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** Limits of subscriptions and of events that callers emit. */
export const notificationLimits = {
  /** UTF-8 bytes of `data` as JSON. Receivers accept bodies of this size, and one event may go to each subscription of a workspace. */
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
  .regex(/^app(\.[a-z][a-z0-9_]*){1,5}$/, 'must be app. and names in lower case, separated by dots');

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

/** Members of the data of an event with the values that they must have. */
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
  /** `null`: each event of these types is sent. */
  filter: EventFilter.nullable(),
  /**
   * `paused`: events are not recorded for it, and notifications that wait are not sent. `failing`: the last attempt did not arrive. `disabled`:
   * it was given up; subscribing again brings it back.
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

/** An event of a caller holds text of the caller, and mail of this product must not. */
export const MailEventTypes = z
  .array(PlatformEventType)
  .min(1)
  .max(PlatformEventType.options.length)
  .transform((types) => [...new Set(types)]);

export const SubscriptionTerms = {
  /** Absent or `null`: each event of the types is sent. */
  filter: EventFilter.nullable().optional(),
  /** Absent: `active`. */
  status: z.enum(['active', 'paused']).optional(),
};

const roomy = 2_048;
export const WebhookTarget = z
  .url({ protocol: /^https?$/ })
  .max(roomy)
  .refine((url) => !URL.canParse(url) || !/^[^/]*\/\/[^/?#]*@/.test(new URL(url).href), 'must hold no credentials');

/** Returned when it is new, and `null` afterwards. A rotation makes another one. */
const Secret = z
  .string()
  .regex(/^whsec_/)
  .nullable();

export const createSubscription = defineRoute({
  operation: 'create-subscription',
  summary:
    'Have a webhook (Standard Webhooks 1.0) or the mailbox of a member told of what happens. Asked again for the same target it changes the types and brings back what was disabled.',
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
  summary: 'Who is told of what happens in the workspace.',
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
  summary: 'Tell this target nothing more; what it was still to be told is gone with it.',
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
  summary: 'A new secret for a webhook. The one before it signs beside it until `previousUntil`.',
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
  /** When it is tried next; null when it is not. */
  nextAttemptAt: Instant.nullable(),
  lastError: z.string().nullable(),
  createdAt: Instant,
  endedAt: Instant.nullable(),
});
export type Notification = z.infer<typeof Notification>;

export const listNotifications = defineRoute({
  operation: 'list-notifications',
  summary: 'The notifications sent to a target, newest first, and the result of each.',
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
  summary: 'Try one again that has ended, under the id that its receiver may know.',
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
  /** How many notifications were recorded for it, one for each subscription that it matches. */
  deliveries: z.int().min(0),
  emittedBy: z.string(),
  emittedAt: Instant,
});
export type EmittedEvent = z.infer<typeof EmittedEvent>;

export const emitEvent = defineRoute({
  operation: 'emit-event',
  summary:
    'Send an event of type `app.*` to the subscriptions of the workspace that match it. A `dedupeKey` counts once in seven days.',
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
  summary: 'Notifications of the workspace, newest first, and how each was delivered.',
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
  summary: 'Send a notification again that has ended, under the same id.',
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
