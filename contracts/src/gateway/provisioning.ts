import { z } from 'zod';
import { OrgId } from '../governance-kernel/tenants.ts';
import { defineRoute } from '../route.ts';
import { ScimUserId, WorkspaceId } from '../scalars.ts';

/** The most workspaces of one organisation in a request or an event. No organisation has as many. */
export const workspacesPerOrg = 2_000;

export const findSoleOwner = defineRoute({
  operation: 'find-sole-owner',
  summary:
    'Check whether a provisioned person is the only owner of one of these workspaces, for the commercial gateway.',
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
