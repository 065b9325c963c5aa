export { inOnePacket } from './one-packet.ts';
export { openDatabase } from './open-database.ts';
export type { Database } from './open-database.ts';
export type { ReadOnly } from './read-only.ts';
export { inTransaction } from './transaction.ts';
export { isSerializationFailure, isUnavailable, isUniqueViolation, withoutValues } from './failures.ts';
export { provisionRoles } from './provision-roles.ts';
export { migrate } from './migrate.ts';
export { diffMigration } from './diff-migration.ts';
