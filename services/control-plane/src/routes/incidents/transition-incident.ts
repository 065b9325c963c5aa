import { transitionIncident } from '@countersign/contracts/control-plane';
import { answer, etag, ifMatchTags } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import { incidentView } from '../../incidents/incident-view.ts';
import { moveIncident } from '../../incidents/move-incident.ts';

export const transitionIncidentRoute = (context: Context) =>
  handleKeyed(transitionIncident)(async ({ params, body, caller, req, requestId }) => {
    const input = { ...body, incidentId: params.incident_id, tags: ifMatchTags(req) };
    const incident = await moveIncident(context, input, { caller, requestId });
    return answer(
      200,
      await incidentView({ reader: context.database.reader, now: context.now }, incident),
      etag(String(incident.version)),
    );
  });
