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
  /** Null: it is like no other. */
  dedupKey: string | null;
  receipts: readonly ReceiptId[];
  /** Null: the control plane by itself. */
  by: UserId | PrincipalId | null;
  requestId: string | null;
};

export type Reported = { incident: StoredIncident; isNew: boolean };

/** Opens an incident, or sees the one of its key again. Two who report at once make one, and it was seen twice. */
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
  const known = await lockUnclosed(tx, incident.workspaceId, incident.dedupKey);
  // It was closed since: then there is none of this key.
  if (known === null) return await reportIncident(tx, { newEvent, now }, report);
  const again = seenAgain(known, report, at);
  await writeIncident(tx, again);
  const seen = { by: report.by, at, note: report.note };
  await recordEntry(tx, known.id, { ...seen, kind: 'seen_again', recurrence: again.recurrence });
  if (again.state !== known.state)
    await recordEntry(tx, known.id, { ...seen, kind: 'moved', from: known.state, to: again.state, standing: [] });
  await tell(tx, { newEvent }, again, { report, from: known.state, at });
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

/** A resolved incident is open again. */
function seenAgain(known: StoredIncident, { severity, receipts }: Report, at: Date): StoredIncident {
  const isBack = known.state === 'resolved';
  return {
    ...known,
    severity: worseOf(known.severity, severity),
    receipts: [...new Set([...known.receipts, ...receipts])].slice(0, incidentListsMax.receipts),
    state: isBack ? 'open' : known.state,
    owner: isBack ? null : known.owner,
    version: known.version + 1,
    recurrence: known.recurrence + 1,
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
