import { listSubscriptions } from '@countersign/contracts/gateway';
import * as delivery from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { subscriptionView } from '../../notifications/views.ts';

/** A workspace has at most 20 subscriptions, so they fit on one page. */
export const listSubscriptionsRoute = ({ transaction }: Context) =>
  handleWorkspace(listSubscriptions)(async ({ caller: { workspaceId } }) => {
    const subscriptions = await transaction((tx) => delivery.listSubscriptions(queryableOf(tx), workspaceId));
    return { data: subscriptions.map(subscriptionView), nextCursor: null };
  });
