import type { WorkspaceId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { reportIncident, type Report } from '../incidents/report-incident.ts';
import { recordSighting } from '../store/incident-sightings.ts';

/**
 * One sighting. The same `sighting` of a key counts once. A different `sighting` of the key is a recurrence of its
 * incident.
 */
export type Seen = Pick<Report, 'title' | 'severity' | 'category' | 'note' | 'receipts'> & {
  dedupKey: string;
  sighting: string;
};

export type Watching = Pick<Context, 'transaction' | 'newEvent' | 'now'>;

/** Opens an incident for a sighting in a workspace, or raises its recurrence. A repeated sighting changes nothing. */
export async function reportSighting(context: Watching, workspaceId: WorkspaceId, seen: Seen): Promise<void> {
  const { sighting, ...report } = seen;
  await context.transaction(async (tx) => {
    if (!(await recordSighting(tx, workspaceId, { dedupKey: seen.dedupKey, sighting }, context.now()))) return;
    await reportIncident(tx, context, { ...report, workspaceId, by: null, requestId: null });
  });
}
