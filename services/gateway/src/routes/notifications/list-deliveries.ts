import { listDeliveries } from '@countersign/contracts/gateway';
import * as delivery from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { notificationView } from '../../notifications/views.ts';
import { olderThan, pageOf } from '../../store/page.ts';

export const listDeliveriesRoute = ({ transaction }: Context) =>
  handleWorkspace(listDeliveries)(async ({ query, caller: { workspaceId: owner } }) => {
    const { lt: before = null } = olderThan(query);
    const { subscriptionId = null, limit } = query;
    const wanted = { owner, subscriptionId, before, limit: limit + 1 };
    const rows = await transaction((tx) => delivery.listNotifications(queryableOf(tx), wanted));
    return pageOf(rows, query, { item: notificationView, key: ({ id }) => id });
  });
