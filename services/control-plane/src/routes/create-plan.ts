import { createPlan } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { handleWorkspace } from '../handle.ts';
import { draftPlan } from '../plans/draft-plan.ts';
import { planView } from '../plans/plan-view.ts';

export const createPlanRoute = (context: Context) =>
  handleWorkspace(createPlan)(async ({ body, caller, requestId }) =>
    planView(context, await draftPlan(context, body, { caller, requestId })),
  );
