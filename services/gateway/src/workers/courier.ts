import { WorkspaceId } from '@countersign/contracts';
import { NotificationType } from '@countersign/contracts/gateway';
import { Courier, createWebhookPost, type MailNotification, type Subscription } from '@countersign/delivery';
import { queryableOf, type Queryable } from '@countersign/messaging';
import { repeat } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { publishSubscriptionDisabled } from '../events.ts';
import { notificationMail } from '../notifications/notification-mail.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { isMemberAddress } from '../store/members.ts';
import { findWorkspace } from '../store/workspaces.ts';

const passMs = 1_000;

type CourierTx = Queryable & { tx: Tx };

/** Brings notifications to webhooks and mailboxes; any number of gateways may do it at once. */
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
    now: context.now,
  });
  const passes = repeat({
    run: () => courier.pass(stopping.signal),
    intervalMs: passMs,
    onFailure: (error) => context.log.warn('notifications.pass_failed', { error }),
  });
  return {
    stop: async () => {
      stopping.abort();
      await passes.close();
    },
  };
}

/** Whoever is no member any more is told nothing more. */
async function mailTo(context: Context, { to, owner, type, body }: MailNotification): Promise<'sent' | 'gone'> {
  const { database, mailer, config } = context;
  const workspace = await findWorkspace(database.reader, owner);
  if (workspace === null || !(await isMemberAddress(database.reader, owner, to))) return 'gone';
  if (mailer === null) throw new Error('no mail provider is configured');
  const about = { type: NotificationType.parse(type), workspace: workspace.name, publicUrl: config.publicUrl, body };
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
