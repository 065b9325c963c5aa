import { createPlan } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleKeyedOnce } from '../../handle-once.ts';
import { draftPlan } from '../../plans/draft-plan.ts';
import { planView } from '../../plans/plan-view.ts';
import type { Reader } from '../../store/database.ts';
import type { StoredPlan } from '../../store/plans.ts';

const show = async (plan: StoredPlan, reader: Reader) => ({
  status: createPlan.status,
  body: await planView(reader, plan),
});

export const createPlanRoute = (context: Context) =>
  handleKeyedOnce(context)(createPlan)(async ({ body, caller, requestId }, once) => {
    const plan = await draftPlan(context, body, { caller, requestId, transaction: once(show) });
    return await show(plan, context.database.reader);
  });
