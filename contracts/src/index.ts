export * from './scalars.ts';
export * from './errors.ts';
export * from './reason-codes.ts';
export * from './route.ts';
export * from './list.ts';
export * from './client.ts';
export * from './event.ts';
