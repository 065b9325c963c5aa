import { createScimToken, identityLimits } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { createToken } from '../../identity/scim-tokens.ts';

export const createScimTokenRoute = (context: Context) =>
  handlePerson(createScimToken)(async ({ query, body, caller, requestId }) => {
    const { id: orgId } = await orgOfAdmin(context, caller, query.org_id);
    const { name, expires_in_days: expiresInDays = identityLimits.scimTokenDays } = body;
    return createToken(context, { name, expiresInDays }, { orgId, actor: caller.userId, requestId });
  });
