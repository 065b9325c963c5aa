import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { connectionOptions } from './connection-options.ts';
import { isLockTimeout, isSerializationFailure } from './failures.ts';
import { readServiceMigrations } from './migration-files.ts';
import { ownerOf } from './provision-roles.ts';
import { withSchemaEngine } from './schema-engine.ts';
import { grantTableRights } from './table-rights.ts';
import { withClient } from './with-client.ts';
import { quoteIdentifier } from './identifier.ts';

// Any constant of our own: the first key of a two-key advisory lock; the second is the hash of the schema's name.
const migrationLock = 0x636f756e;
// A replica that waits longer than this for another one's migration stops and is started again by its supervisor. So does a migration
// that finds its tables in use all the time.
const waitMsMax = 120_000;
const pauseMs = 250;

interface MigrateOptions {
  /** Without `role`: the owner of the schema. With `role`: a member of `<role>_owner`, which `provisionRoles` makes the administrator. */
  url: string;
  schema: string;
  /** The folder that holds `prisma/schema.prisma` and `prisma/migrations`. */
  serviceDir: string;
  /** The service's login role: migrations run as `<role>_owner`, and `role` is granted what each table allows. */
  role?: string;
}

/**
 * Applies the migrations that are not applied yet, as `prisma migrate deploy` does, and returns their names. Safe to call from
 * several replicas at once: one applies, the others wait and find nothing to do. Throws when a migration fails, and then nothing
 * of that migration remains. Services may work meanwhile: a table that they use is waited for briefly, and tried again.
 *
 * A table that a migration marks with `COMMENT ON TABLE … IS 'append-only'` can be read and inserted into by `role`, never
 * updated, deleted from or truncated.
 */
export async function migrate({ url, schema, serviceDir, role }: MigrateOptions): Promise<string[]> {
  const owner = role === undefined ? undefined : ownerOf(role);
  const { datamodel, migrations } = await readServiceMigrations(serviceDir);
  const options = connectionOptions({ schema, role: owner });
  return withClient(
    url,
    async (client) => {
      await lock(client, schema);
      if (owner === undefined) await client.query(`CREATE SCHEMA IF NOT EXISTS ${quoteIdentifier(schema)}`);
      const before = await appliedNames(client, schema);
      await givingWay(async () => {
        await forgetInterrupted(client, schema);
        await withSchemaEngine({ url, schema, role: owner, datamodel }, async (engine) => {
          const filters = { externalTables: [], externalEnums: [] };
          await engine.applyMigrations({ migrationsList: migrations, filters });
        });
      });
      const applied = (await appliedNames(client, schema)).filter((name) => !before.includes(name));
      if (role !== undefined) await grantTableRights(client, { schema, role });
      return applied;
    },
    { options, application_name: 'countersign-migrate' },
  );
}

// Held by the session: it ends with the connection, even when this process is killed.
async function lock(client: pg.Client, schema: string): Promise<void> {
  await client.query(`SET lock_timeout = ${waitMsMax}`);
  await client.query('SELECT pg_advisory_lock($1, hashtext($2))', [migrationLock, schema]);
}

/** Again and again, while what fails is that somebody else held a table. What was applied stays, and the rest is tried again. */
async function givingWay(work: () => Promise<void>): Promise<void> {
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

async function appliedNames(client: pg.Client, schema: string): Promise<string[]> {
  if (!(await hasHistory(client, schema))) return [];
  const { rows } = await client.query<{ migration_name: string }>(
    `SELECT migration_name FROM ${historyOf(schema)} WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY started_at`,
  );
  return rows.map(({ migration_name: name }) => name);
}

async function hasHistory(client: pg.Client, schema: string): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>('SELECT to_regclass($1) IS NOT NULL AS found', [
    historyOf(schema),
  ]);
  return rows[0]?.found === true;
}

function historyOf(schema: string): string {
  return `${quoteIdentifier(schema)}._prisma_migrations`;
}

// We hold the lock, so a migration without an end belongs to a process that died. PostgreSQL rolled its script back; without this
// mark the engine would refuse every later start.
async function forgetInterrupted(client: pg.Client, schema: string): Promise<void> {
  if (!(await hasHistory(client, schema))) return;
  await client.query(
    `UPDATE ${historyOf(schema)} SET rolled_back_at = now() WHERE finished_at IS NULL AND rolled_back_at IS NULL`,
  );
}
