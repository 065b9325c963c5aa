import { instantOf, PrincipalId } from '@countersign/contracts';
import { incidentListsMax, StopKind, type Incident, type IncidentSummary } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { commandView } from '../ops/command-view.ts';
import { planView } from '../plans/plan-view.ts';
import { listTimeline } from '../store/incident-entries.ts';
import type { Reader } from '../store/database.ts';
import type { StoredIncident } from '../store/incidents.ts';
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
    opened_at: instantOf(incident.openedAt),
    last_seen_at: instantOf(incident.lastSeenAt),
    updated_at: instantOf(incident.updatedAt),
  };
}

/** An incident with its related objects. Each list has a limit. */
export async function incidentView(
  { reader, now }: { reader: Reader; now: Context['now'] },
  incident: StoredIncident,
): Promise<Incident> {
  const { id, receipts } = incident;
  const [timeline, commands, plans, current] = await Promise.all([
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
    standing: current.map(commandView).map(({ target, kind, command_id }) => ({
      target,
      kind: StopKind.parse(kind), // a fence in force is never `open`
      command_id,
    })),
  };
}

/** Whether an incident shows the command. A refused command matches no possible call, so it was never a stop. */
function isTold({ state }: StoredCommand): boolean {
  return state !== 'refused';
}

function principal(author: StoredIncident['owner']): PrincipalId | null {
  return author === null ? null : PrincipalId.parse(author);
}
