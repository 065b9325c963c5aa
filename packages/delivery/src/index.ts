export { announce } from './announce.ts';
export { Courier } from './courier.ts';
export type { MailNotification } from './courier.ts';
export { findBacklog, forgetNotifications, hasNotification, listNotifications, redrive } from './notifications.ts';
export type { Notification } from './notifications.ts';
export {
  addSubscription,
  disableWebhooksOf,
  endSubscription,
  listSubscriptions,
  rotateSecret,
} from './subscriptions.ts';
export type { Channel, Subscription } from './subscriptions.ts';
export { deliveryTablesSql, deliveryTermsSql } from './tables.ts';
export { liveSecrets, secretOverlapMs } from './webhook-secret.ts';
export { isPublicAddress, lookupPublic } from './public-address.ts';
export { createWebhookPost } from './webhook-post.ts';
