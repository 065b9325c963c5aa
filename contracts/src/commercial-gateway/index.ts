export * from './events.ts';
export * from './invoices.ts';
export * from './meter.ts';
export * from './plan-version.ts';
export * from './subscriptions.ts';
