import { listIncidents } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleKeyed } from '../../handle.ts';
import { incidentSummary } from '../../incidents/incident-view.ts';
import * as store from '../../store/incidents.ts';

export const listIncidentsRoute = ({ database }: Context) =>
  handleKeyed(listIncidents)(async ({ query, caller }) => {
    const { incidents, nextCursor } = await store.listIncidents(database.reader, caller.workspaceId, query);
    return { data: incidents.map(incidentSummary), next_cursor: nextCursor };
  });
