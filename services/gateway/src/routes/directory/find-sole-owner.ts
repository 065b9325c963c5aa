import { findSoleOwner } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleSibling } from '../../handle.ts';
import { isSoleOwner } from '../../store/members.ts';
import { findProvisionedUser } from '../../store/provisioned-people.ts';

export const findSoleOwnerRoute = ({ database: { reader } }: Context) =>
  handleSibling(findSoleOwner)(async ({ body }) => {
    const { org_id: orgId, scim_user_id: scimUserId, workspace_ids: workspaceIds } = body;
    const userId = await findProvisionedUser(reader, { orgId, scimUserId });
    return { sole_owner: userId !== null && (await isSoleOwner(reader, userId, workspaceIds)) };
  });
