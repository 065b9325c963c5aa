import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import { changedFunctions } from './changed-functions.ts';
import { connectionOptions } from './connection-options.ts';
import { quoteIdentifier } from './identifier.ts';
import { migrate } from './migrate.ts';
import { readDatamodel, readFunctions } from './migration-files.ts';
import { withSchemaEngine } from './schema-engine.ts';
import { withDatabase } from './urls.ts';
import { withClient } from './with-client.ts';

// The engine returns this text for a script without statements.
const emptyScript = '-- This is an empty migration.';
const nothingExternal = { externalTables: [], externalEnums: [] };

interface DiffMigrationOptions {
  /** URL for a role that can create databases. The migrations run in a temporary database. */
  adminUrl: string;
  serviceDir: string;
}

/**
 * Returns the SQL that is missing in the service's migrations, compared with its `schema.prisma` and its functions.
 * `null` when nothing is missing.
 */
export async function diffMigration({ adminUrl, serviceDir }: DiffMigrationOptions): Promise<string | null> {
  const name = `countersign_diff_${randomBytes(6).toString('hex')}`;
  await withClient(adminUrl, (client) => client.query(`CREATE DATABASE ${quoteIdentifier(name)}`));
  try {
    return await diffAgainst(withDatabase(adminUrl, name), serviceDir);
  } finally {
    await withClient(adminUrl, (client) => client.query(`DROP DATABASE ${quoteIdentifier(name)} WITH (FORCE)`));
  }
}

async function diffAgainst(url: string, serviceDir: string): Promise<string | null> {
  const schema = 'public';
  await migrate({ url, schema, serviceDir });
  const tables = await diffTables({ url, schema, serviceDir });
  const functions = await diffFunctions({ url, schema, serviceDir, tables });
  const scripts = [...(tables === null ? [] : [tables.trimEnd()]), ...functions];
  return scripts.length === 0 ? null : `${scripts.join('\n\n')}\n`;
}

type Place = { url: string; schema: string; serviceDir: string };

async function diffTables({ url, schema, serviceDir }: Place): Promise<string | null> {
  const datamodel = await readDatamodel(serviceDir);
  const schemas = { files: [{ path: 'schema.prisma', content: datamodel }] };
  return withSchemaEngine({ url, schema, datamodel }, async (engine) => {
    const { stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', ...schemas, configDir: serviceDir },
      to: { tag: 'schemaDatamodel', ...schemas },
      script: true,
      exitCode: null,
      filters: nothingExternal,
    });
    return stdout === null || stdout.includes(emptyScript) ? null : stdout;
  });
}

/** The statements that change a function or a trigger. They run after `tables`, because a trigger needs its table. */
function diffFunctions({ url, schema, serviceDir, tables }: Place & { tables: string | null }): Promise<string[]> {
  const run = async (client: pg.Client) => {
    if (tables !== null) await client.query(tables);
    return changedFunctions(client, await readFunctions(serviceDir));
  };
  return withClient(url, run, { options: connectionOptions({ schema }) });
}
