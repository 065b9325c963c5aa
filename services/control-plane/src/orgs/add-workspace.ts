import { instantOf, type UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { publishOrgWorkspaceAdded } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import { insertOrgWorkspace, type Owned } from '../store/orgs.ts';

type Added = Pick<Owned, 'workspaceId' | 'orgId'> & {
  /** The place that was reserved for the workspace. Absent for the first workspace, which no plan limits. */
  place?: PlaceKey;
  by: UserId;
  requestId: string;
};
import { fillPlace, type PlaceKey } from '../store/workspace-places.ts';

/**
 * Assigns a workspace to an organisation, unless it already has one. A workspace never moves to another organisation.
 */
export async function addWorkspace(
  { transaction, now, newEvent }: Pick<Context, 'transaction' | 'now' | 'newEvent'>,
  { workspaceId, orgId, place, by, requestId }: Added,
): Promise<void> {
  await transaction(async (tx) => {
    const at = now();
    if (place !== undefined) await fillPlace(tx, place, workspaceId);
    if (!(await insertOrgWorkspace(tx, { workspaceId, orgId }, at))) return;
    const act = { scope: workspaceId, action: 'org.workspace_added', actor: by, verdict: 'allow', requestId } as const;
    await recordAudit(tx, { ...act, subject: orgId }, at);
    const added = { workspace_id: workspaceId, org_id: orgId, added_at: instantOf(at) };
    await publishOrgWorkspaceAdded(tx, { newEvent }, added);
  });
}
