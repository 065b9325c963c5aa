import { commitPlan } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { givePlan } from '../../plans/give-plan.ts';
import { getStandingPlan } from '../../plans/plan-moves.ts';
import { deliverPlan, planView } from '../../plans/plan-view.ts';

export const commitPlanRoute = (context: Context) =>
  handleWorkspace(commitPlan)(async ({ params, body, caller, requestId }) => {
    const act = { caller, requestId };
    const plan = await getStandingPlan(context, { planId: params.plan_id, planHash: body.plan_hash }, act);
    await givePlan(context, plan, act);
    await deliverPlan(context, plan);
    return planView(context.database.reader, plan);
  });
