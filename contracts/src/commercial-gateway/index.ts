export { Meter } from './meter.ts';
export { allCapabilities, BillingPlanId, PlanVersion, type PriceTier } from './plan-version.ts';
export { CreditGrantKind, InvoiceStatus } from './invoices.ts';
export { SubscriptionStatus } from './subscriptions.ts';
export { creditGrantUpdated, invoiceUpdated, subscriptionUpdated } from './events.ts';
