import { putSubscription } from '@countersign/contracts/commercial-gateway';
import { billingCaller } from '../../billing-caller.ts';
import type { BillingDeps } from '../../billing-deps.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import * as invoicing from '../../invoicing/put-subscription.ts';
import { subscriptionView } from '../../subscriptions/subscription-view.ts';

export const putSubscriptionRoute = ({
  database,
  config,
  ...deps
}: Pick<Context, 'database' | 'config'> & BillingDeps) =>
  handlePerson(putSubscription)(async ({ params, body, caller, requestId }) => {
    const { id } = await orgOfAdmin({ database }, caller, params.tenant_id);
    const plan = body.plan === null ? null : { planId: body.plan.plan_id, planVersion: body.plan.plan_version };
    const put = { plan, taxPercent: config.billing.taxPercent };
    const { subscription, invoice } = await invoicing.putSubscription(deps, put, billingCaller(id, caller, requestId));
    return {
      subscription: subscription === null ? null : subscriptionView(subscription),
      invoice_id: invoice?.id ?? null,
    };
  });
