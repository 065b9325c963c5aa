import { AppError, type IncidentId, type WorkspaceId } from '@countersign/contracts';
import { incidentMoves } from '@countersign/contracts/control-plane';
import type { Tx } from '../store/database.ts';
import { lockIncident, type StoredIncident } from '../store/incidents.ts';

/**
 * The incident of a command, locked, so that it is not resolved at the same time without the command. Throws NOT_FOUND,
 * and ILLEGAL_TRANSITION for a resolved one: reopen it before you stop something for it. Throws NOT_FOUND, and
 * ILLEGAL_TRANSITION for one that is resolved: who stops something for it opens it again first.
 */
export async function requireOngoing(tx: Tx, workspaceId: WorkspaceId, id: IncidentId): Promise<StoredIncident> {
  const incident = await lockIncident(tx, workspaceId, id);
  if (incident === null) throw new AppError('NOT_FOUND', 'There is no such object');
  const { state } = incident;
  if (state !== 'resolved' && state !== 'closed') return incident;
  throw new AppError('ILLEGAL_TRANSITION', `The incident is ${state}`, {
    param: 'incident_id',
    details: { state, allowed: [...incidentMoves[state]] },
  });
}
