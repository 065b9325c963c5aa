import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, TenantId, UserId, WorkspaceId } from '../scalars.ts';

/** More members than any workspace has, and a body that one request carries. */
const membersMax = 10_000;

export const putMembers = defineRoute({
  operation: 'put-members',
  summary:
    'Set the whole list of members of a workspace, sealed. Votes are judged by it. Its version is that of its source and only rises; an older ' +
    'list changes nothing, and the answer names the version that is in force.',
  method: 'PUT',
  path: '/internal/members/{tenant}',
  auth: 'service_internal',
  idempotency: { exempt: 'repeatable' },
  params: z.strictObject({
    tenant: TenantId.refine((id) => WorkspaceId.safeParse(id).success, 'must be the id of a workspace'),
  }),
  body: z.strictObject({
    version: ControlVersion,
    members: z.array(z.strictObject({ user_id: UserId, role: z.enum(['owner', 'partner', 'member']) })).max(membersMax),
  }),
  reply: z.strictObject({ version: ControlVersion }),
  errors: ['INVALID_REQUEST', 'RECEIPT_STORE_UNAVAILABLE', 'STORE_UNAVAILABLE'],
});
