export * from './identity.ts';
export * from './workspaces.ts';
export * from './tasks.ts';
export * from './audit.ts';
export * from './governance.ts';
export * from './health.ts';
export * from './events.ts';
export * from './routes.ts';
