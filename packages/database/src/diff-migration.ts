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

// The engine's own words for a script without statements.
const emptyScript = '-- This is an empty migration.';
const nothingExternal = { externalTables: [], externalEnums: [] };

interface DiffMigrationOptions {
  /** A role that may create databases: the history is replayed in a throw-away one. */
  adminUrl: string;
  serviceDir: string;
}

/**
 * Returns the SQL that leads from the service's migrations to its `schema.prisma` and to its functions, or null when nothing is missing.
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

/** The statements that change a function or a trigger, once the tables are there that a trigger names. */
function diffFunctions({ url, schema, serviceDir, tables }: Place & { tables: string | null }): Promise<string[]> {
  const run = async (client: pg.Client) => {
    if (tables !== null) await client.query(tables);
    return changedFunctions(client, await readFunctions(serviceDir));
  };
  return withClient(url, run, { options: connectionOptions({ schema }) });
}
