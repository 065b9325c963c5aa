import type { PrincipalId, ReceiptId, UserId, WorkspaceId } from '@countersign/contracts';
import { incidentListsMax, type IncidentCategory, type IncidentSeverity } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { publishIncidentMoved } from '../events.ts';
import { newIncidentId } from '../ids.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordEntry } from '../store/incident-entries.ts';
import { insertIncident, lockUnclosed, writeIncident, type StoredIncident } from '../store/incidents.ts';
import { actorOf } from './actor-of.ts';
import { worseOf } from './worse-of.ts';

export type Report = {
  workspaceId: WorkspaceId;
  title: string;
  severity: IncidentSeverity;
  category: IncidentCategory;
  note: string;
  /** `null` when the incident cannot be merged with others. */
  dedupKey: string | null;
  receipts: readonly ReceiptId[];
  /** `null` when the control plane itself made the report. */
  by: UserId | PrincipalId | null;
  requestId: string | null;
};

export type Reported = { incident: StoredIncident; isNew: boolean };

/**
 * Opens an incident, or counts a recurrence of the unclosed incident with the same key. Two simultaneous reports with
 * one key create one incident with two sightings.
 */
export async function reportIncident(
  tx: Tx,
  { newEvent, now }: Pick<Context, 'newEvent' | 'now'>,
  report: Report,
): Promise<Reported> {
  const at = now();
  const incident = incidentOf(report, at);
  if (await insertIncident(tx, incident)) {
    await recordEntry(tx, incident.id, { kind: 'opened', by: report.by, at, note: report.note });
    await tell(tx, { newEvent }, incident, { report, from: null, at });
    return { incident, isNew: true };
  }
  const existing = await lockUnclosed(tx, incident.workspaceId, incident.dedupKey);
  // The incident was closed in the meantime, so no unclosed one has this key.
  if (existing === null) return await reportIncident(tx, { newEvent, now }, report);
  const again = seenAgain(existing, report, at);
  await writeIncident(tx, again);
  const seen = { by: report.by, at, note: report.note };
  await recordEntry(tx, existing.id, { ...seen, kind: 'seen_again', recurrence: again.recurrence });
  if (again.state !== existing.state)
    await recordEntry(tx, existing.id, { ...seen, kind: 'moved', from: existing.state, to: again.state, standing: [] });
  await tell(tx, { newEvent }, again, { report, from: existing.state, at });
  return { incident: again, isNew: false };
}

function incidentOf({ note, by, dedupKey, receipts, requestId, ...report }: Report, at: Date): StoredIncident {
  const id = newIncidentId();
  return {
    ...report,
    ...{ id, state: 'open', version: 1, recurrence: 1, owner: null },
    dedupKey: dedupKey ?? id,
    receipts: [...receipts],
    openedBy: by,
    ...{ openedAt: at, lastSeenAt: at, updatedAt: at },
  };
}

/** The incident after a further report. A resolved incident is open again. */
function seenAgain(incident: StoredIncident, { severity, receipts }: Report, at: Date): StoredIncident {
  const isBack = incident.state === 'resolved';
  return {
    ...incident,
    severity: worseOf(incident.severity, severity),
    receipts: [...new Set([...incident.receipts, ...receipts])].slice(0, incidentListsMax.receipts),
    state: isBack ? 'open' : incident.state,
    owner: isBack ? null : incident.owner,
    version: incident.version + 1,
    recurrence: incident.recurrence + 1,
    lastSeenAt: at,
    updatedAt: at,
  };
}

type Telling = { report: Report; from: StoredIncident['state'] | null; at: Date };

async function tell(
  tx: Tx,
  context: Pick<Context, 'newEvent'>,
  incident: StoredIncident,
  { report, from, at }: Telling,
): Promise<void> {
  const { id, workspaceId: scope, severity, category, dedupKey, recurrence } = incident;
  await publishIncidentMoved(tx, context, { incident, from, by: report.by });
  const action = from === null ? 'incident.opened' : 'incident.seen_again';
  const details = { severity, category, dedup_key: dedupKey, recurrence, note: report.note };
  const act = {
    action,
    actor: actorOf(report.by),
    verdict: 'allow',
    subject: id,
    requestId: report.requestId,
  } as const;
  await recordAudit(tx, { scope, ...act, details }, at);
}
