export { diffMigration } from './diff-migration.ts';
export { createTestDatabase } from './test-database.ts';
export type { TestDatabase } from './test-database.ts';
export { explainStatements, findGrowingReads, recordPlans } from './statement-plans.ts';
export type { PlanRecorder } from './statement-plans.ts';
export type { TwinOptions } from './twins.ts';
