import { getEntitlements } from '@countersign/contracts/commercial-gateway';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { countedEntitlements } from '../../entitlements/counted-entitlements.ts';
import { handlePerson } from '../../handle.ts';

export const getEntitlementsRoute = (context: Context) =>
  handlePerson(getEntitlements)(async ({ query, caller }) => {
    const { id: orgId } = await orgOfAdmin(context, caller, query.org_id);
    return countedEntitlements(context, orgId);
  });
