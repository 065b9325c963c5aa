import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { AssembledInvoice } from '../billing/assemble-invoice.ts';
import type { Reader } from '../store/database.ts';
import { getPlanVersion } from '../store/plan-versions.ts';
import { findCurrentSubscription, type StoredSubscription } from '../store/subscriptions.ts';
import { findUsageHead } from '../store/usage-events.ts';
import { assembleUntil, periodInProgress } from './bill-period.ts';

type InvoicePreview = AssembledInvoice & { subscription: StoredSubscription; currency: string };

/**
 * Returns the invoice that the period in progress would have at its end with the usage so far. Usage pages and budgets
 * show this amount. Returns `null` when the organisation has no billed period, or when its plan has no price.
 */
export async function previewInvoice(
  reader: Reader,
  orgId: OrgId,
  taxPercent: string | null,
): Promise<InvoicePreview | null> {
  const subscription = await findCurrentSubscription(reader, orgId);
  if (subscription === null || subscription.status === 'incomplete' || subscription.status === 'trialing') return null;
  const plan = await getPlanVersion(reader, { planId: subscription.planId, version: subscription.planVersion });
  if (plan.currency === null) return null;
  const [head, { end }] = [await findUsageHead(reader, orgId), periodInProgress(subscription)];
  const assembled = await assembleUntil(reader, { subscription, plan, head, end, taxPercent });
  return { ...assembled, subscription, currency: plan.currency };
}
