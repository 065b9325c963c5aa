import { approvePlan } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { askForApproval } from '../../plans/ask-for-approval.ts';
import { getStandingPlan } from '../../plans/plan-moves.ts';
import { planView } from '../../plans/plan-view.ts';

export const approvePlanRoute = (context: Context) =>
  handleWorkspace(approvePlan)(async ({ params, body, caller, requestId }) => {
    const act = { caller, requestId };
    const plan = await getStandingPlan(context, { planId: params.plan_id, planHash: body.plan_hash }, act);
    return planView(context.database.reader, await askForApproval(context, plan, act));
  });
