import { listNotifications } from '@countersign/contracts/gateway';
import * as delivery from '@countersign/delivery';
import { queryableOf } from '@countersign/messaging';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { notificationView } from '../../notifications/views.ts';
import { olderThan, pageOf } from '../../store/page.ts';

export const listNotificationsRoute = ({ transaction }: Context) =>
  handleWorkspace(listNotifications)(async ({ params: { subscriptionId }, query, caller: { workspaceId } }) => {
    const { lt: before = null } = olderThan(query);
    const wanted = { owner: workspaceId, subscriptionId, before, limit: query.limit + 1 };
    const rows = await transaction((tx) => delivery.listNotifications(queryableOf(tx), wanted));
    return pageOf(rows, query, { item: notificationView, key: ({ id }) => id });
  });
