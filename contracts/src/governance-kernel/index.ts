export * from './receipt.ts';
export * from './boundary-record.ts';
export * from './policy-bundle.ts';
export * from './evaluate.ts';
