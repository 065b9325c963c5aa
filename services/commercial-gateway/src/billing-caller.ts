import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { BillingCaller } from './billing-deps.ts';
import type { PersonCaller } from './guards.ts';

/** A person who acts for an organisation. */
export function billingCaller(orgId: OrgId, { userId }: PersonCaller, requestId: string): BillingCaller {
  return { orgId, actor: userId, requestId };
}
