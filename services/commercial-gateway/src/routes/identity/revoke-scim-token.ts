import * as contract from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { revokeScimToken } from '../../identity/scim-tokens.ts';

export const revokeScimTokenRoute = (context: Context) =>
  handlePerson(contract.revokeScimToken)(async ({ params, query, caller, requestId }) => {
    const { id: orgId } = await orgOfAdmin(context, caller, query.org_id);
    await revokeScimToken(context, params.token_id, { orgId, actor: caller.userId, requestId });
    return { revoked: true as const };
  });
