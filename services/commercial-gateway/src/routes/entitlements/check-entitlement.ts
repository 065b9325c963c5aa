import { checkEntitlements } from '@countersign/contracts/commercial-gateway';
import { offeredPlans } from '../../billing/plan-catalog.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { checkEntitlement } from '../../entitlements/check-entitlement.ts';
import { termsOfPlan } from '../../entitlements/entitlement-terms.ts';
import { countedEntitlements } from '../../entitlements/counted-entitlements.ts';
import { handlePerson } from '../../handle.ts';

export const checkEntitlementRoute = (context: Context) =>
  handlePerson(checkEntitlements)(async ({ query, body: { name, amount = 1 }, caller }) => {
    const { id: orgId } = await orgOfAdmin(context, caller, query.org_id);
    const entitlements = await countedEntitlements(context, orgId);
    return checkEntitlement(entitlements, { name, amount }, offeredPlans().map(termsOfPlan));
  });
