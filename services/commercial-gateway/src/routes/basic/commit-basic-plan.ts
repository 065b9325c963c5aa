import { commitBasicPlan } from '@countersign/contracts/commercial-gateway';
import { commitPlan } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const commitBasicPlanRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(commitBasicPlan)(({ body: { plan_id, ...body }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { commitPlan });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.commitPlan({ params: { plan_id }, body, headers }));
  });
