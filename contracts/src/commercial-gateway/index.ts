export { getLiveness, getReadiness } from '../health-probes.ts';
export { showFrontPage, getOpenApi } from '../front-page.ts';

export * from './activation.ts';
export * from './admin.ts';
export * from './billing.ts';
export * from './entitlements.ts';
export * from './events.ts';
export * from './health.ts';
export * from './identity.ts';
export * from './invoices.ts';
export * from './ledger.ts';
export * from './licence.ts';
export * from './meter.ts';
export * from './plan-terms.ts';
export * from './plan-version.ts';
export * from './scim.ts';
export * from './subscriptions.ts';
export * from './usage.ts';
