import { listBasicIncidents } from '@countersign/contracts/commercial-gateway';
import { getIncident, IncidentSummary, listIncidents } from '@countersign/contracts/control-plane';
import { answer } from '@countersign/service-kit';
import { z } from 'zod';
import { answerAsCaller, headersOf, passedOn } from '../../basic/answer-as-caller.ts';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';

/** Removes the members that only the route of one incident returns. */
const Summary = z.object(IncidentSummary.shape);

export const listBasicIncidentsRoute = (context: Pick<Context, 'asCaller'>) =>
  handleWorkspace(listBasicIncidents)(async ({ query: { incident_id, ...query }, caller, req, idempotency }) => {
    const client = context.asCaller(caller.delegation, { getIncident, listIncidents });
    const headers = headersOf({ req, idempotency }, caller);
    if (incident_id === undefined) return passedOn(() => client.listIncidents({ query, headers }));
    const found = await answerAsCaller(() => client.getIncident({ params: { incident_id }, headers }));
    return answer(200, { data: [Summary.parse(found.body)], next_cursor: null }, found.headers);
  });
