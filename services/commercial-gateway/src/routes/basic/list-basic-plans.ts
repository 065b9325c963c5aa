import { listBasicPlans } from '@countersign/contracts/commercial-gateway';
import { listPlans } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const listBasicPlansRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicPlans)(({ query, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { listPlans });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.listPlans({ query, headers }));
  });
