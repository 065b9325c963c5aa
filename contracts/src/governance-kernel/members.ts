import { z } from 'zod';
import { defineRoute } from '../route.ts';
import { ControlVersion, TenantId, UserId, WorkspaceId } from '../scalars.ts';

/** More members than any workspace has, within one request body. */
const membersMax = 10_000;

export const putMembers = defineRoute({
  operation: 'put-members',
  summary:
    'Set the complete list of members of a workspace, sealed. Votes are checked against it. An older version ' +
    'changes nothing. The answer has the version in force.',
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
