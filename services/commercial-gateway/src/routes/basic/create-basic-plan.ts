import { createBasicPlan } from '@countersign/contracts/commercial-gateway';
import { createPlan } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createBasicPlanRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(createBasicPlan, { idempotency: 'handler' })(({ body, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { createPlan });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.createPlan({ body, headers }));
  });
