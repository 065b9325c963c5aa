import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { ScimUserId, WorkspaceId } from '../scalars.ts';

/** More workspaces than an organisation has. */
export const workspacesPerOrg = 2_000;

export const findSoleOwner = defineRoute({
  operation: 'find-sole-owner',
  summary: 'For the commercial gateway: whether a provisioned person is the only owner of one of these workspaces.',
  method: 'POST',
  path: '/internal/provisioned-people/sole-owner',
  auth: 'service_internal',
  idempotency: { exempt: 'reads' },
  body: z.strictObject({
    org_id: OrgId,
    scim_user_id: ScimUserId,
    workspace_ids: z.array(WorkspaceId).max(workspacesPerOrg),
  }),
  reply: z.strictObject({ sole_owner: z.boolean() }),
});
