import { AppError, type IncidentId, type WorkspaceId } from '@countersign/contracts';
import { incidentMoves } from '@countersign/contracts/control-plane';
import type { Tx } from '../store/database.ts';
import { lockIncident, type StoredIncident } from '../store/incidents.ts';

/**
 * Locks the incident of a command, so that it cannot be resolved before the command is recorded. Throws NOT_FOUND, and
 * ILLEGAL_TRANSITION for a resolved or closed incident.
 */
export async function requireOngoing(tx: Tx, workspaceId: WorkspaceId, id: IncidentId): Promise<StoredIncident> {
  const incident = await lockIncident(tx, workspaceId, id);
  if (incident === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  const { state } = incident;
  if (state !== 'resolved' && state !== 'closed') return incident;
  throw new AppError('ILLEGAL_TRANSITION', `The incident is ${state}`, {
    param: 'incident_id',
    details: { state, allowed: [...incidentMoves[state]] },
  });
}
