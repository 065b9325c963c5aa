export { createTestDatabase } from './test-database.ts';
export type { TestDatabase, TestDatabaseOptions } from './test-database.ts';
