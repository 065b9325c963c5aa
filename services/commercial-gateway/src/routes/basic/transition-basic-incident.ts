import { transitionBasicIncident } from '@countersign/contracts/commercial-gateway';
import { transitionIncident } from '@countersign/contracts/control-plane';
import { headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

export const transitionBasicIncidentRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(transitionBasicIncident)(({ body: { incident_id, ...body }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { transitionIncident });
    const headers = headersOf({ req, idempotency }, caller);
    return passedOn(() => client.transitionIncident({ params: { incident_id }, body, headers }));
  });
