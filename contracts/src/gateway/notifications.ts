import { z } from 'zod';
import { EmailAddress } from '../email-address.ts';
import { camelPage, PageQuery } from '../list.ts';
import { defineRoute } from '../route.ts';
import { Instant, UserId } from '../scalars.ts';
import { Done, PathId, WorkspaceBody, WorkspaceQuery } from './workspaces.ts';

/** What a workspace can be told of. */
export const NotificationType = z.enum([
  'approval.requested',
  'approval.resolved',
  'run.ended',
  'violation.recorded',
  'incident.opened',
  'invite.created',
  'subscription.disabled',
]);
export type NotificationType = z.infer<typeof NotificationType>;

export const Subscription = z.strictObject({
  id: z.string(),
  channel: z.enum(['webhook', 'mail']),
  target: z.string(),
  eventTypes: z.array(NotificationType),
  /** `failing`: the last attempt did not arrive. `disabled`: it was given up; subscribing again brings it back. */
  state: z.enum(['active', 'failing', 'disabled']),
  failingSince: Instant.nullable(),
  disabledReason: z.string().nullable(),
  createdBy: UserId,
  createdAt: Instant,
});
export type Subscription = z.infer<typeof Subscription>;

const eventTypes = z
  .array(NotificationType)
  .min(1)
  .max(NotificationType.options.length)
  .transform((types) => [...new Set(types)]);

const roomy = 2_048;
const WebhookTarget = z
  .url({ protocol: /^https?$/ })
  .max(roomy)
  .refine((url) => !URL.canParse(url) || !/^[^/]*\/\/[^/?#]*@/.test(new URL(url).href), 'must hold no credentials');

/** Shown here and by a rotation, and never again. */
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
    z.strictObject({ ...WorkspaceBody, channel: z.literal('webhook'), target: WebhookTarget, eventTypes }),
    z.strictObject({ ...WorkspaceBody, channel: z.literal('mail'), target: EmailAddress, eventTypes }),
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
  summary: 'What a target was told, newest first, and how that went.',
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
