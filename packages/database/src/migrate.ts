import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectionOptions } from './connection-options.ts';
import { isLockTimeout, isSerializationFailure } from './failures.ts';
import { readMigrations, type Migration } from './migration-files.ts';
import { ownerOf } from './provision-roles.ts';
import { grantTableRights } from './table-rights.ts';
import { withClient } from './with-client.ts';
import { quoteIdentifier } from './identifier.ts';

// First key of a two-key advisory lock, an arbitrary constant. The second key is the hash of the schema's name.
const migrationLock = 0x636f756e;
// A replica that waits longer than this for the migration of another replica stops, and its supervisor restarts it. The
// same limit applies to a migration whose tables are always in use.
const waitMsMax = 120_000;
const pauseMs = 250;
// Other statements on a table wait behind a migration that waits for the table. The migration therefore gives up before
// PostgreSQL's deadlock check (after a second, by default), which could cancel the statement of a service.
const lockTimeoutMs = 500;

interface MigrateOptions {
  /**
   * Without `role`: login as the owner of the schema. With `role`: login as a member of `<role>_owner`, such as the
   * administrator after `provisionRoles`.
   */
  url: string;
  schema: string;
  /** The folder that contains `prisma/schema.prisma` and `prisma/migrations`. */
  serviceDir: string;
  /** The service's login role. Migrations run as `<role>_owner`, and `role` gets the rights that each table allows. */
  role?: string;
}

/**
 * Applies the pending migrations in the order of their names, and returns these names. A script and its row in
 * `_prisma_migrations` commit in one transaction. A process can therefore be killed at any statement, and the next
 * start continues. The table is Prisma's own, so `prisma migrate deploy` can continue too. Several replicas may call it
 * at once: one applies the migrations, and the others wait. Throws when a script fails, after a rollback of that
 * script. Services can keep running: the script waits briefly for a table in use, and is then retried.
 *
 * `role` can read and insert into a table with `COMMENT ON TABLE … IS 'append-only'`. It cannot update, delete or
 * truncate it.
 */
export async function migrate({ url, schema, serviceDir, role }: MigrateOptions): Promise<string[]> {
  const owner = role === undefined ? undefined : ownerOf(role);
  const migrations = await readMigrations(serviceDir);
  const options = connectionOptions({ schema, role: owner });
  return withClient(
    url,
    async (client) => {
      await lock(client, schema);
      if (owner === undefined) await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`);
      const history = `${quoteIdentifier(schema)}._prisma_migrations`;
      await createHistory(client, history);
      const applied = await appliedNames(client, history);
      const missing = migrations.filter(({ name }) => !applied.has(name));
      for (const migration of missing) await retryWhileInUse(() => apply(client, history, migration));
      if (role !== undefined) await grantTableRights(client, { schema, role });
      return missing.map(({ name }) => name);
    },
    { options, application_name: 'countersign-migrate' },
  );
}

// The session owns this lock, so it ends with the connection, also when this process is killed.
async function lock(client: pg.Client, schema: string): Promise<void> {
  await client.query(`SET lock_timeout = ${waitMsMax}`);
  await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [migrationLock, schema]);
}

// Columns and types as Prisma's migrate engine creates them.
async function createHistory(client: pg.Client, history: string): Promise<void> {
  await client.query(`CREATE TABLE IF NOT EXISTS ${history} (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`);
}

async function appliedNames(client: pg.Client, history: string): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ migration_name: string }>(
    `SELECT migration_name FROM ${history} WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL`,
  );
  return new Set(rows.map((row) => row.migration_name));
}

async function apply(client: pg.Client, history: string, { name, script }: Migration): Promise<void> {
  const checksum = createHash('sha256').update(script).digest('hex');
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${lockTimeoutMs}`);
  try {
    await client.query(script);
    await client.query(
      `INSERT INTO ${history} (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), checksum, name],
    );
    await client.query('COMMIT');
  } catch (error) {
    // After a lost connection, PostgreSQL rolls back, and the first error has more information.
    await client.query('ROLLBACK').catch(() => undefined);
    throw namingMigration(error, name);
  }
}

function namingMigration(error: unknown, name: string): unknown {
  if (!(error instanceof Error)) return error;
  return Object.assign(error, { message: `Migration ${name} failed: ${error.message}` });
}

/**
 * Retries `work` while it fails because of a lock of another session, a deadlock or a serialization failure, for at
 * most `waitMsMax`.
 */
async function retryWhileInUse(work: () => Promise<void>): Promise<void> {
  const giveUpAt = Date.now() + waitMsMax;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(isLockTimeout(error) || isSerializationFailure(error)) || Date.now() > giveUpAt) throw error;
      await delay(pauseMs);
    }
  }
}
