import { listPlans } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import { planView } from '../../plans/plan-view.ts';
import * as store from '../../store/plans.ts';

export const listPlansRoute = ({ database: { reader } }: Context) =>
  handleKeyed(listPlans)(async ({ query: { incident_id: incidentId, ...page }, caller }) => {
    const { plans, nextCursor } = await store.listPlans(reader, caller.workspaceId, { incidentId, ...page });
    return { data: await Promise.all(plans.map((plan) => planView(reader, plan))), next_cursor: nextCursor };
  });
