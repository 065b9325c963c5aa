import type pg from 'pg';
import { quoteIdentifier } from './identifier.ts';
import type { TestDatabase } from './test-database.ts';
import { withClient } from './with-client.ts';

/**
 * How the rows of a table get twins. `columns` contains SQL for the columns in which a twin differs. NEW is the
 * original row.
 */
interface TwinTable {
  /** Column with the owner of a row, if its name in this table differs from {@link TwinOptions.owner}. */
  owner?: string;
  columns: Record<string, string>;
  /** Condition for rows that belong to an owner. */
  of?: string;
}

/**
 * Each new row of these tables that matches `of` gets a twin: a row of another owner with the same names, keys and
 * states. A statement without a condition on the owner finds the twin too. If a statement changes twins, or adds rows
 * for their owners, `drop` of the test database rejects.
 */
export interface TwinOptions {
  /** The column with the owner of a row. */
  owner: string;
  tables: Record<string, TwinTable>;
  /**
   * Tables with the `owner` column whose rows cannot have twins. All other tables with this column must be in `tables`.
   */
  without: readonly string[];
}

type Place = Pick<TestDatabase, 'adminUrl' | 'schema'>;

/** Adds the triggers that create twins. */
export async function addTwins({ adminUrl, schema }: Place, options: TwinOptions): Promise<void> {
  const keeping = ['CREATE SCHEMA twins', 'CREATE TABLE twins.kept (of_table text, owner text, content jsonb)'];
  await withClient(adminUrl, async (client) => {
    await requireAllTables(client, schema, options);
    await client.query([...keeping, ...entriesOf(schema, options).flatMap(triggerOf)].join(';\n'));
  });
}

/** Lines about twins that were changed after their creation, and about other rows of the owners of twins. */
export async function listChangedTwins({ adminUrl, schema }: Place, options: TwinOptions): Promise<string[]> {
  return withClient(adminUrl, async (client) => {
    const entries = await withRows(client, entriesOf(schema, options));
    if (entries.length === 0) return [];
    const { rows } = await client.query<{ line: string }>(changes(entries));
    return rows.map(({ line }) => line);
  });
}

/** The tables that have rows or had twins. Planning a query of all tables would take a fifth of a second. */
async function withRows(client: pg.Client, entries: readonly TwinEntry[]): Promise<TwinEntry[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT name FROM unnest($1::text[], $2::text[]) AS _ (name, place)
      WHERE pg_relation_size(place::regclass) > 0 OR name IN (SELECT of_table FROM twins.kept)`,
    [entries.map(({ table }) => table), entries.map(({ place }) => place)],
  );
  const written = new Set(rows.map(({ name }) => name));
  return entries.filter(({ table }) => written.has(table));
}

function entriesOf(schema: string, { owner, tables }: TwinOptions): TwinEntry[] {
  return Object.entries(tables).map(([table, twin]) => ({ table, place: placeOf(schema, table), owner, ...twin }));
}

async function requireAllTables(
  client: pg.Client,
  schema: string,
  { owner, tables, without }: TwinOptions,
): Promise<void> {
  const { rows } = await client.query<{ table_name: string }>(
    'SELECT table_name FROM information_schema.columns WHERE table_schema = $1 AND column_name = $2',
    [schema, owner],
  );
  const forgotten = rows
    .map(({ table_name }) => table_name)
    .filter((name) => !(name in tables) && !without.includes(name));
  if (forgotten.length > 0) throw new Error(`The rows of ${forgotten.join(', ')} have no twins`);
}

type TwinEntry = TwinTable & { table: string; place: string; owner: string };

function placeOf(schema: string, table: string): string {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(table)}`;
}

/**
 * The trigger that creates twins. A row that is inserted again after its removal still has its first twin. Twins get no
 * twins.
 */
function triggerOf({ table, place, owner, columns, of = 'true' }: TwinEntry): string[] {
  const name = `twins.${quoteIdentifier(table)}`;
  const made = Object.entries(columns).map(([column, value]) => `twin.${quoteIdentifier(column)} := ${value};`);
  return [
    `CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $twin$
     DECLARE
       twin ${place};
     BEGIN
       IF pg_trigger_depth() > 1 OR NOT (${of}) THEN RETURN NULL; END IF;
       twin := NEW;
       ${made.join('\n')}
       WITH born AS (INSERT INTO ${place} AS t SELECT twin.* ON CONFLICT DO NOTHING RETURNING to_jsonb(t) AS content)
       INSERT INTO twins.kept SELECT '${table}', content ->> '${owner}', content FROM born;
       RETURN NULL;
     END $twin$`,
    `CREATE TRIGGER has_a_twin AFTER INSERT ON ${place} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
  ];
}

/** SQL for the twins that were changed or removed, and for other rows of their owners. It returns at most 20 lines. */
function changes(entries: readonly TwinEntry[]): string {
  const ofTables = entries.map(
    ({ table, place, owner }) => `(
      SELECT '${table}: is no more as it was: ' || content::text AS line FROM twins.kept AS k
       WHERE of_table = '${table}' AND NOT EXISTS (SELECT FROM ${place} AS t WHERE to_jsonb(t) = k.content)
      UNION ALL
      SELECT '${table}: was not made with its twin: ' || to_jsonb(t)::text FROM ${place} AS t
       WHERE t.${quoteIdentifier(owner)} IN (SELECT owner FROM twins.kept)
         AND NOT EXISTS (SELECT FROM twins.kept AS k WHERE of_table = '${table}' AND k.content = to_jsonb(t)))`,
  );
  return `${ofTables.join(' UNION ALL ')} ORDER BY 1 LIMIT 20`;
}
