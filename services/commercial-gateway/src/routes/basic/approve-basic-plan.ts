import { approveBasicPlan } from '@countersign/contracts/commercial-gateway';
import { approvePlan } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const approveBasicPlanRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(approveBasicPlan)(({ body: { plan_id, ...body }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { approvePlan });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.approvePlan({ params: { plan_id }, body, headers }));
  });
