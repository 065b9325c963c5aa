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

type Input = {
  incidentId: string;
  to: IncidentState;
  note: string;
  /** The fences that stay in force when the incident is resolved. */
  standing: readonly OpsTarget[];
  /** The tags of If-Match; `null` when there is none. */
  tags: readonly string[] | null;
};
type By = { caller: KeyedCaller; requestId: string };

/**
 * Moves an incident and records the note. Throws NOT_FOUND, PRECONDITION_REQUIRED and PRECONDITION_FAILED. Throws
 * ILLEGAL_TRANSITION for a move that is not permitted, and for a resolution while a fence is in force that `standing`
 * does not name.
 */
export async function moveIncident(
  context: Pick<Context, 'newEvent' | 'now' | 'transaction'>,
  input: Input,
  { caller, requestId }: By,
): Promise<StoredIncident> {
  const { to, note } = input;
  const { workspaceId, actor: by } = caller;
  const id = knownId(IncidentId, input.incidentId);
  return await context.transaction(async (tx) => {
    const incident = await lockIncident(tx, workspaceId, id);
    if (incident === null)
      throw new AppError(
        'NOT_FOUND',
        'This object does not exist, or you have no access to it. Check its ID and the workspace',
      );
    requireMatch(input.tags, String(incident.version));
    if (!incidentMoves[incident.state].includes(to)) throw notTo(incident, to);
    const at = context.now();
    const active = to === 'resolved' ? await requireNamed(tx, incident, input, at) : [];
    const moved = { ...incident, state: to, owner: ownerAfter(incident, to, by), updatedAt: at };
    const next = { ...moved, version: incident.version + 1 };
    await writeIncident(tx, next);
    await recordEntry(tx, id, { kind: 'moved', from: incident.state, to, standing: active, by, at, note });
    await publishIncidentMoved(tx, context, { incident: next, from: incident.state, by });
    const act = { action: 'incident.moved', actor: by, verdict: 'allow', subject: id, requestId } as const;
    const details = { from: incident.state, to, note, standing: active };
    await recordAudit(tx, { scope: workspaceId, ...act, details }, at);
    return next;
  });
}

/** The caller who acknowledges an incident owns it. A reopened incident has no owner. */
function ownerAfter({ owner }: StoredIncident, to: IncidentState, by: KeyedCaller['actor']) {
  if (to === 'open') return null;
  return to === 'acked' ? by : owner;
}

/**
 * The targets whose fences stay. Throws ILLEGAL_TRANSITION that lists each fence of the incident that `standing` lacks.
 */
async function requireNamed(
  tx: Tx,
  incident: StoredIncident,
  { to, standing }: Input,
  now: Date,
): Promise<OpsTarget[]> {
  const { workspaceId } = incident;
  const named = new Set<string>(standing.map((target) => scopeOf(target, workspaceId)));
  const remaining = await listStandingFor(tx, incident.id, now);
  const unnamed = remaining.filter(({ scope }) => !named.has(scope));
  const targetsOf = (commands: typeof remaining) => commands.flatMap(({ scope }) => targetOf(scope, workspaceId) ?? []);
  if (unnamed.length > 0) throw notTo(incident, to, { unnamed: targetsOf(unnamed) });
  return targetsOf(remaining);
}

function notTo({ state }: StoredIncident, to: IncidentState, why: { unnamed?: OpsTarget[] } = {}): AppError {
  const { unnamed } = why;
  const note =
    unnamed === undefined
      ? `An incident that is ${state} cannot become ${to}`
      : `Stops of this incident are in force. Lift them, or name them in standing: ${unnamed.join(', ')}`;
  return new AppError('ILLEGAL_TRANSITION', note, {
    details: { state, allowed: [...incidentMoves[state]], ...why },
  });
}
