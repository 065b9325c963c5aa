export { showFrontPage, getOpenApi, showDocs } from '../front-page.ts';
export { getLiveness, getReadiness } from '../health-probes.ts';
export {
  TaskStatus,
  TaskTitle,
  TaskDescription,
  RunStatus,
  GovernedOutcome,
  RunError,
  ApprovalStatus,
} from '../run-states.ts';

export * from './api-keys.ts';
export * from './audit.ts';
export * from './capabilities.ts';
export * from './directory.ts';
export * from './event-stream.ts';
export * from './events.ts';
export * from './governance.ts';
export * from './health.ts';
export * from './identity.ts';
export * from './lanes.ts';
export * from './members.ts';
export * from './notifications.ts';
export * from './provisioning.ts';
export * from './reports.ts';
export * from './run-codes.ts';
export * from './runs.ts';
export * from './tasks.ts';
export * from './workspaces.ts';
