import { getIncident } from '@countersign/contracts/control-plane';
import { answer, etag } from '@countersign/service-kit';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import * as incidents from '../../incidents/get-incident.ts';
import { incidentView } from '../../incidents/incident-view.ts';

export const getIncidentRoute = (context: Context) =>
  handleKeyed(getIncident)(async ({ params, caller }) => {
    const incident = await incidents.getIncident(context, params.incident_id, caller);
    return answer(
      200,
      await incidentView({ reader: context.database.reader, now: context.now }, incident),
      etag(String(incident.version)),
    );
  });
