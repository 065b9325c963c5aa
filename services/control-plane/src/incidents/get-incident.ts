import { AppError, IncidentId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { KeyedCaller } from '../guards.ts';
import { knownId } from '../siblings/known-id.ts';
import { findIncident, type StoredIncident } from '../store/incidents.ts';

/** An incident of the caller's workspace. Throws NOT_FOUND. */
export async function getIncident(
  { database }: Pick<Context, 'database'>,
  id: string,
  { workspaceId }: Pick<KeyedCaller, 'workspaceId'>,
): Promise<StoredIncident> {
  const incident = await findIncident(database.reader, workspaceId, knownId(IncidentId, id));
  if (incident === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  return incident;
}
