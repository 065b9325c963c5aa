import { createBasicIncident } from '@countersign/contracts/commercial-gateway';
import { createIncident } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const createBasicIncidentRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(createBasicIncident, { idempotency: 'handler' })(({ body, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { createIncident });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.createIncident({ body, headers }));
  });
