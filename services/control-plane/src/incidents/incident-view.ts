import { PrincipalId } from '@countersign/contracts';
import { incidentListsMax, StopKind, type Incident, type IncidentSummary } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { commandView } from '../ops/command-view.ts';
import { planView } from '../plans/plan-view.ts';
import { listTimeline } from '../store/incident-entries.ts';
import type { Reader } from '../store/database.ts';
import type { StoredIncident } from '../store/incidents.ts';
import { instant } from '../store/instant.ts';
import { listPlansFor } from '../store/plans.ts';
import { listCommandsFor, listStandingFor, type StoredCommand } from '../store/stops.ts';

/** An incident as a list shows it. */
export function incidentSummary(incident: StoredIncident): IncidentSummary {
  const { id, workspaceId, title, severity, category, dedupKey, state, recurrence } = incident;
  return {
    ...{ incident_id: id, workspace_id: workspaceId, title, severity, category },
    ...{ dedup_key: dedupKey, state, recurrence },
    owner: principal(incident.owner),
    opened_by: principal(incident.openedBy),
    opened_at: instant(incident.openedAt),
    last_seen_at: instant(incident.lastSeenAt),
    updated_at: instant(incident.updatedAt),
  };
}

/** The same with everything that belongs to it. */
export async function incidentView(
  { reader, now }: { reader: Reader; now: Context['now'] },
  incident: StoredIncident,
): Promise<Incident> {
  const { id, receipts } = incident;
  const [timeline, commands, plans, standing] = await Promise.all([
    listTimeline(reader, id, incidentListsMax.timeline),
    listCommandsFor(reader, id, incidentListsMax.commands),
    listPlansFor(reader, id, incidentListsMax.plans),
    listStandingFor(reader, id, now()),
  ]);
  return {
    ...incidentSummary(incident),
    timeline,
    receipts,
    commands: commands.reverse().filter(isTold).map(commandView),
    plans: await Promise.all(plans.map((plan) => planView(reader, plan))),
    standing: standing.map(commandView).map(({ target, kind, command_id }) => ({
      target,
      kind: StopKind.parse(kind), // what lifts a fence does not stand
      command_id,
    })),
  };
}

/** A refused command names nothing that a call could have, so it was never a stop. */
function isTold({ state }: StoredCommand): boolean {
  return state !== 'refused';
}

function principal(author: StoredIncident['owner']): PrincipalId | null {
  return author === null ? null : PrincipalId.parse(author);
}
