import type { UseQueryResult } from '@tanstack/react-query';
import {
  selfHostedPlanId,
  type Entitlements,
  type PlanVersion,
  type Subscription,
  type UsageReport,
} from '@countersign/contracts/commercial-gateway';
import type { getBillingAccount } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { z } from 'zod';
import { commercial } from '../commercial/client.ts';
import { useCommercial } from '../commercial/use-commercial.ts';

export type Account = z.infer<(typeof getBillingAccount)['reply']>;
export type Billing = {
  account: Account;
  usage: UsageReport;
  entitlements: Entitlements;
  plans: readonly PlanVersion[];
};

/** Plan, account and usage of an organisation. They are read together because they are shown as one state. */
export function useBilling(orgId: OrgId): UseQueryResult<Billing> {
  return useCommercial(['billing', orgId], async (signal) => {
    const params = { tenant_id: orgId };
    const [account, usage, entitlements, plans] = await Promise.all([
      commercial.getBillingAccount({ params, signal }),
      commercial.getUsage({ params, signal }),
      commercial.getEntitlements({ query: { org_id: orgId }, signal }),
      commercial.listBillingPlans({ signal }),
    ]);
    return { account: account.body, usage: usage.body, entitlements: entitlements.body, plans: plans.body.data };
  });
}

/** True for a self-hosted installation without a subscription, which has nothing to pay and no plan to choose. */
export function usageAlone({ account, entitlements }: Billing): boolean {
  return entitlements.plan_id === selfHostedPlanId && account.subscription === null;
}

/** The offered plan with this id, and with this version when one is passed. */
export function planOf({ plans }: Pick<Billing, 'plans'>, planId: string, version?: Subscription['plan_version']) {
  return plans.find((plan) => plan.plan_id === planId && (version === undefined || plan.version === version));
}
