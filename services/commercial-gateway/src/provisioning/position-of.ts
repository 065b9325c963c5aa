import type { ScimUserId } from '@countersign/contracts';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { Position } from '../scim/plan-user-change.ts';
import { listWorkspaceIdsOf } from '../store/orgs.ts';

export type PositionDeps = Pick<Context, 'accounts' | 'database' | 'log'>;

/**
 * Returns whether a person is the only owner of a workspace of the organisation. When the gateway does not answer, the
 * access ends without this check. The gateway always keeps the last owner of a workspace.
 */
export async function positionOf(
  { accounts, database, log }: PositionDeps,
  { orgId, scimUserId }: { orgId: OrgId; scimUserId: ScimUserId },
): Promise<Position> {
  const workspace_ids = await listWorkspaceIdsOf(database.reader, orgId);
  try {
    const body = { org_id: orgId, scim_user_id: scimUserId, workspace_ids };
    const { sole_owner } = (await accounts.findSoleOwner({ body })).body;
    return { isOwner: sole_owner, otherOwners: 0 };
  } catch (error) {
    log.warn('scim.position_unknown', { error });
    return { isOwner: false, otherOwners: 0 };
  }
}
