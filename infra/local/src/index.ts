export { localSettings, type LocalSettings } from './config.ts';
export { startEmbeddedPostgres, type EmbeddedPostgres, type EmbeddedPostgresOptions } from './embedded-postgres.ts';
export { LocalProblem } from './local-problem.ts';
export { freePort } from './ports.ts';
export { startLocal, type LocalSystem } from './start-local.ts';
export { startSystem, type StartedSystem, type StartOptions } from './started-system.ts';
