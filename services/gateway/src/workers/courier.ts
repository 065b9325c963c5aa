import { WorkspaceId } from '@countersign/contracts';
import { PlatformEventType } from '@countersign/contracts/gateway';
import { Courier, createWebhookPost, type MailNotification, type Subscription } from '@countersign/delivery';
import { queryableOf, type Queryable } from '@countersign/messaging';
import type { Context } from '../context.ts';
import { publishSubscriptionDisabled } from '../events.ts';
import { notificationMail } from '../notifications/notification-mail.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { isMemberAddress } from '../store/members.ts';
import { findWorkspace } from '../store/workspaces.ts';

const passMs = 1_000;

type CourierTx = Queryable & { tx: Tx };

/** Delivers notifications to webhooks and mailboxes. Any number of gateways may do it at once. */
export function startCourier(context: Context): { stop(): Promise<void> } {
  const { webhooks } = context.config;
  const stopping = new AbortController();
  const courier = new Courier<CourierTx>({
    transaction: (work) => context.transaction((tx) => work({ ...queryableOf(tx), tx })),
    secretKey: webhooks.secretKey,
    post: createWebhookPost({ reachesPrivate: webhooks.reachPrivate }),
    mail: (notification) =>
      mailTo(context, notification).catch((error: unknown) => {
        context.log.error('mail.not_sent', { error });
        throw error;
      }),
    onGivenUp: ({ tx }, subscription) => recordGivenUp(tx, context, subscription),
    now: async () => new Date(await context.database.nowMs()),
  });
  const underWay = new Set<Promise<void>>();
  const mayPass = oneAtATime(() => context.clockGuard.isNear());
  const pass = async () => {
    try {
      if (await mayPass()) await courier.pass(stopping.signal);
    } catch (error) {
      context.log.warn('notifications.pass_failed', { error });
    }
  };
  // Passes do not wait for each other, since slow receivers can delay one.
  const timer = setInterval(() => {
    const one = pass().finally(() => underWay.delete(one));
    underWay.add(one);
  }, passMs);
  timer.unref();
  return {
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await Promise.all(underWay);
    },
  };
}

/** Checks of the clock must not pile up while the database does not answer, so only one runs at a time. */
function oneAtATime(look: () => Promise<boolean>): () => Promise<boolean> {
  let isLooking = false;
  return async () => {
    if (isLooking) return false;
    isLooking = true;
    return await look().finally(() => (isLooking = false));
  };
}

/** Sends a notification by mail. `gone` when no member of the workspace has this address any more. */
async function mailTo(context: Context, { to, owner, type, body }: MailNotification): Promise<'sent' | 'gone'> {
  const { database, mailer, config } = context;
  const workspace = await findWorkspace(database.reader, owner);
  if (workspace === null || !(await isMemberAddress(database.reader, owner, to))) return 'gone';
  if (mailer === null) throw new Error('no mail provider is configured');
  const about = { type: PlatformEventType.parse(type), workspace: workspace.name, publicUrl: config.publicUrl, body };
  await mailer.sendNotification(to, notificationMail(about));
  return 'sent';
}

async function recordGivenUp(tx: Tx, context: Context, subscription: Subscription): Promise<void> {
  const { id, owner: workspaceId, channel } = subscription;
  context.log.warn('subscription.disabled', { workspace_id: workspaceId, subscription_id: id });
  const data = { workspaceId: WorkspaceId.parse(workspaceId), subscriptionId: id, channel };
  await publishSubscriptionDisabled(tx, context, data);
  const entry = { workspaceId, action: 'subscription.disabled', actor: 'gateway', verdict: 'fail' } as const;
  await recordAudit(tx, { ...entry, reason: 'NOT_DELIVERED', subject: id, details: { channel } }, context.now());
}
