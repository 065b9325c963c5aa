import { getPlan } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import * as plans from '../../plans/plan-moves.ts';
import { planView } from '../../plans/plan-view.ts';

export const getPlanRoute = (context: Context) =>
  handleKeyed(getPlan)(async ({ params, caller }) =>
    planView(context.database.reader, await plans.getPlan(context, params.plan_id, { caller })),
  );
