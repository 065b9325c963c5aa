import { instantOf } from '@countersign/contracts';
import * as contract from '@countersign/contracts/commercial-gateway';
import { billingCaller } from '../../billing-caller.ts';
import type { Context } from '../../context.ts';
import { orgOfAdmin } from '../../directory/org-of-admin.ts';
import { handlePerson } from '../../handle.ts';
import { startCheckout, type CheckoutPurpose } from '../../payments/start-checkout.ts';

export const startCheckoutRoute = (context: Context) =>
  handlePerson(contract.startCheckout)(async ({ params, body, caller, requestId }) => {
    const org = await orgOfAdmin(context, caller, params.tenant_id);
    const purpose: CheckoutPurpose =
      body.purpose === 'invoice'
        ? { kind: 'invoice', invoiceId: body.invoice_id }
        : { kind: 'subscription', planId: body.plan.plan_id, planVersion: body.plan.plan_version };
    const { id, url, expiresAt } = await startCheckout(
      context,
      { org, purpose },
      billingCaller(org.id, caller, requestId),
    );
    return { checkout_id: id, provider: context.payments.charging.name, url, expires_at: instantOf(expiresAt) };
  });
