import { AppError, IncidentId } from '@countersign/contracts';
import { incidentMoves, type IncidentState, type OpsTarget } from '@countersign/contracts/control-plane';
import { requireMatch } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import { publishIncidentMoved } from '../events.ts';
import type { KeyedCaller } from '../guards.ts';
import { scopeOf, targetOf } from '../ops/target.ts';
import { knownId } from '../siblings/known-id.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordEntry } from '../store/incident-entries.ts';
import { lockIncident, writeIncident, type StoredIncident } from '../store/incidents.ts';
import { listStandingFor } from '../store/stops.ts';

type Asked = {
  incidentId: string;
  to: IncidentState;
  note: string;
  /** Fences that are to stay when it is resolved. */
  standing: readonly OpsTarget[];
  /** The tags of If-Match; `null` when there is none. */
  tags: readonly string[] | null;
};
type By = { caller: KeyedCaller; requestId: string };

/**
 * Moves an incident with its note. Throws NOT_FOUND, PRECONDITION_REQUIRED and PRECONDITION_FAILED. Throws
 * ILLEGAL_TRANSITION for a move that is not published, and for one that would leave an unnamed fence in force.
 */
export async function moveIncident(context: Context, asked: Asked, { caller, requestId }: By): Promise<StoredIncident> {
  const { to, note } = asked;
  const { workspaceId, actor: by } = caller;
  const id = knownId(IncidentId, asked.incidentId);
  return await context.transaction(async (tx) => {
    const incident = await lockIncident(tx, workspaceId, id);
    if (incident === null) throw new AppError('NOT_FOUND', 'There is no such object');
    requireMatch(asked.tags, String(incident.version));
    if (!incidentMoves[incident.state].includes(to)) throw notTo(incident, to);
    const at = context.now();
    const standing = to === 'resolved' ? await requireNamed(tx, incident, asked, at) : [];
    const moved = { ...incident, state: to, owner: ownerAfter(incident, to, by), updatedAt: at };
    const next = { ...moved, version: incident.version + 1 };
    await writeIncident(tx, next);
    await recordEntry(tx, id, { kind: 'moved', from: incident.state, to, standing, by, at, note });
    await publishIncidentMoved(tx, context, { incident: next, from: incident.state, by });
    const act = { action: 'incident.moved', actor: by, verdict: 'allow', subject: id, requestId } as const;
    const details = { from: incident.state, to, note, standing };
    await recordAudit(tx, { scope: workspaceId, ...act, details }, at);
    return next;
  });
}

/** The person who acknowledges it owns it; a reopened one has no owner. */
function ownerAfter({ owner }: StoredIncident, to: IncidentState, by: KeyedCaller['actor']) {
  if (to === 'open') return null;
  return to === 'acked' ? by : owner;
}

/** The targets whose fences stay. Throws ILLEGAL_TRANSITION that names each fence of the incident which `standing` does not. */
async function requireNamed(
  tx: Tx,
  incident: StoredIncident,
  { to, standing }: Asked,
  now: Date,
): Promise<OpsTarget[]> {
  const { workspaceId } = incident;
  const named = new Set<string>(standing.map((target) => scopeOf(target, workspaceId)));
  const left = await listStandingFor(tx, incident.id, now);
  const unnamed = left.filter(({ scope }) => !named.has(scope));
  const targetsOf = (commands: typeof left) => commands.flatMap(({ scope }) => targetOf(scope, workspaceId) ?? []);
  if (unnamed.length > 0) throw notTo(incident, to, { unnamed: targetsOf(unnamed) });
  return targetsOf(left);
}

function notTo({ state }: StoredIncident, to: IncidentState, why: { unnamed?: OpsTarget[] } = {}): AppError {
  const { unnamed } = why;
  const told =
    unnamed === undefined
      ? `An incident that is ${state} does not become ${to}`
      : `Lift or name what still stops for it: ${unnamed.join(', ')}`;
  return new AppError('ILLEGAL_TRANSITION', told, {
    details: { state, allowed: [...incidentMoves[state]], ...why },
  });
}
