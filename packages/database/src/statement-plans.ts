import type pg from 'pg';
import type { TestDatabase } from './test-database.ts';
import { quoteIdentifier } from './identifier.ts';
import { withClient } from './with-client.ts';

/** One executed statement: what it read from each table, and the number of pages in total. */
type StatementPlan = { text: string; scans: TableScan[]; pages: number };
type TableScan = { type: string; table: string; rowsRead: number };

/**
 * Makes PostgreSQL report the plan of every statement of this database, also within functions. Only new connections
 * report plans.
 */
export async function explainStatements({ adminUrl }: TestDatabase): Promise<void> {
  const name = quoteIdentifier(new URL(adminUrl).pathname.slice(1));
  const settings = Object.entries(autoExplain).map(([key, value]) => `ALTER DATABASE ${name} SET ${key} = '${value}'`);
  await withClient(adminUrl, (client) => client.query(settings.join(';\n')));
}

const autoExplain = {
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
  'auto_explain.log_format': 'json',
  // Clients receive notices by default, and the server does not log them.
  'auto_explain.log_level': 'notice',
};

export type PlanRecorder = {
  /**
   * The plans of everything that the pool sent while `work` ran, including statements of the workers of the service.
   */
  during(work: () => Promise<unknown>): Promise<StatementPlan[]>;
};

/** Records the plans that a database reports to this pool, after `explainStatements`. */
export function recordPlans(pool: Pick<pg.Pool, 'on'>): PlanRecorder {
  const heard = new WeakSet<pg.PoolClient>();
  let recorded: StatementPlan[] = [];
  pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    client.on('notice', ({ message }) => {
      const plan = message === undefined ? null : parsePlan(message);
      if (plan !== null) recorded.push(plan);
    });
  });
  return {
    during: async (work) => {
      recorded = [];
      await work();
      return recorded;
    },
  };
}

function parsePlan(message: string): StatementPlan | null {
  const [intro, json] = message.split(' ms  plan:\n');
  if (json === undefined || intro?.startsWith('duration: ') !== true) return null;
  const report = membersOf(JSON.parse(json));
  const root = membersOf(report['Plan']);
  return {
    text: String(report['Query Text']).replaceAll(/\s+/g, ' ').trim(),
    scans: nodesUnder(root).flatMap(scanOf),
    pages: numberOf(root, 'Shared Hit Blocks') + numberOf(root, 'Shared Read Blocks'),
  };
}

type Members = Record<string, unknown>;

function nodesUnder(node: Members): Members[] {
  const children = Array.isArray(node['Plans']) ? node['Plans'].map(membersOf) : [];
  return [node, ...children.flatMap(nodesUnder)];
}

/** Rows that a filter removed count too, because they were read. The numbers in a plan are averages per loop. */
function scanOf(node: Members): TableScan[] {
  const type = String(node['Node Type']);
  if (!type.endsWith('Scan') || typeof node['Relation Name'] !== 'string') return [];
  const rows =
    numberOf(node, 'Actual Rows') +
    numberOf(node, 'Rows Removed by Filter') +
    numberOf(node, 'Rows Removed by Index Recheck');
  return [{ type, table: node['Relation Name'], rowsRead: Math.round(rows * numberOf(node, 'Actual Loops')) }];
}

function numberOf(node: Members, name: string): number {
  const value = node[name];
  return typeof value === 'number' ? value : 0;
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null ? (value as Members) : {}; // an object has members
}

/** PostgreSQL reads smaller tables sequentially even if an index exists. */
const smallTableRows = 5_000;

/** Maximum that one statement may read, independent of the size of its tables. */
type ReadBound = { rows: number; pages: number };

/**
 * Statements whose cost grows with the history: they scan a large table sequentially, or read more than `bound`. Table
 * sizes are those of the last ANALYZE.
 */
export async function findGrowingReads(
  database: TestDatabase,
  plans: readonly StatementPlan[],
  bound: ReadBound,
): Promise<string[]> {
  const large = await listLargeTables(database);
  const found = plans.flatMap(({ text, scans, pages }) => [
    ...scans
      .filter(({ type, table }) => type === 'Seq Scan' && large.has(table))
      .map(({ table }) => `reads all of ${table}: ${text}`),
    ...scans
      .filter(({ rowsRead }) => rowsRead > bound.rows)
      .map(({ type, table, rowsRead }) => `${type} reads ${rowsRead} rows of ${table}: ${text}`),
    ...(pages > bound.pages ? [`reads ${pages} pages: ${text}`] : []),
  ]);
  return [...new Set(found)];
}

async function listLargeTables({ adminUrl, schema }: TestDatabase): Promise<Set<string>> {
  return withClient(adminUrl, async (client) => {
    const { rows } = await client.query<{ relname: string }>(
      `SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind = 'r' AND reltuples >= $2`,
      [quoteIdentifier(schema), smallTableRows],
    );
    return new Set(rows.map(({ relname }) => relname));
  });
}
