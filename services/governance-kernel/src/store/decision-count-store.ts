import type { TenantId } from '@countersign/contracts';
import { seriesMax } from '@countersign/contracts/governance-kernel';
import { z } from 'zod';
import { Prisma as Sql } from '../generated/prisma/client.ts';
import type { Reader, Transaction, Tx } from './database.ts';
import { WholeNumber } from './whole-number.ts';

/** The entries per transaction, which then takes some tens of milliseconds. */
const entriesPerStep = 2_000;

/**
 * Counts the decisions, except shadow decisions, among all entries of the log that were not read yet. It runs after
 * the commits, so no decision waits for it.
 */
export async function countDecisions(transaction: Transaction): Promise<void> {
  while (!(await transaction(countOnce)));
}

const Step = z.tuple([z.object({ from: WholeNumber, to: WholeNumber })]);

/**
 * Counts the next entries. Returns whether all are counted. The lock serialises the counts of replicas. The head of the
 * log is committed together with its entries, so all entries below it are visible.
 */
async function countOnce(tx: Tx): Promise<boolean> {
  await tx.$executeRaw`SELECT FROM decision_count_head WHERE id = 1 FOR UPDATE`;
  const [{ from, to }] = Step.parse(
    await tx.$queryRaw`
      SELECT counted.size AS from, least(log_head.size, counted.size + ${entriesPerStep}) AS to
        FROM decision_count_head AS counted, log_head WHERE counted.id = 1`,
  );
  if (from === to) return true;
  await tx.$executeRaw`
    INSERT INTO decision_counts AS c (tenant_id, minutes, at, principal_id, tool, verdict, reason_code, effect_level, calls)
    SELECT tenant_id, span.minutes, date_bin(make_interval(mins => span.minutes), issued_at, 'epoch'::timestamptz), principal_id,
           coalesce(tool, ''), verdict, reason_code, payload::json->>'effect_level', count(*)
      FROM ledger, (VALUES (5), (30), (1440)) AS span(minutes)
     WHERE log_index >= ${from} AND log_index < ${to} AND kind = 'decision' AND payload::json->>'shadow' = 'false'
     GROUP BY 1, 2, 3, 4, 5, 6, 7, 8 ORDER BY 1, 2, 3, 4, 5, 6, 7, 8
    ON CONFLICT (tenant_id, minutes, at, principal_id, tool, verdict, reason_code, effect_level)
    DO UPDATE SET calls = c.calls + excluded.calls`;
  await tx.$executeRaw`
    UPDATE decision_count_head SET size = ${to}, newest_at = greatest(newest_at,
      (SELECT max(issued_at) FROM ledger WHERE log_index >= ${from} AND log_index < ${to})) WHERE id = 1`;
  return to - from < entriesPerStep;
}

/** Removes all counts. The next count begins at the first entry of the log. */
export async function forgetCounts(tx: Tx): Promise<void> {
  await tx.$executeRaw`SELECT FROM decision_count_head WHERE id = 1 FOR UPDATE`;
  await tx.$executeRaw`DELETE FROM decision_counts`;
  await tx.$executeRaw`UPDATE decision_count_head SET size = 0, newest_at = NULL WHERE id = 1`;
}

/** `spanMinutes`: the width of the stored counts, which divides the width of a bucket. */
type CountQuery = {
  fromMs: number;
  toMs: number;
  bucketMinutes: number;
  spanMinutes: 5 | 30 | 1440;
  by: keyof typeof columns;
  filter: Partial<Record<keyof typeof columns, string | undefined>>;
};

const columns = {
  verdict: Sql.sql`verdict`,
  agent: Sql.sql`principal_id`,
  tool: Sql.sql`tool`,
  reason: Sql.sql`reason_code`,
  effect: Sql.sql`effect_level`,
};

/** The calls of one key in one bucket. `key` is `null` for the sum of all keys that are not among the largest. */
const Cell = z.object({ at_ms: z.int(), key: z.string().nullable(), calls: z.int() });
export type CountCell = z.infer<typeof Cell>;
const Counted = z.tuple([
  z.object({
    size: WholeNumber,
    log_size: WholeNumber,
    newest_at: z.date().nullable(),
    cells: z.array(Cell),
  }),
]);

/** One statement, so that counts and their place in the log are consistent. */
export async function readCounts(reader: Reader, tenant: TenantId, query: CountQuery) {
  const { by, filter, fromMs, toMs, bucketMinutes, spanMinutes } = query;
  const conditions = [
    Sql.sql`tenant_id = ${tenant} AND minutes = ${spanMinutes}`,
    Sql.sql`at >= ${new Date(fromMs)} AND at < ${new Date(toMs)}`,
    ...Object.entries<string | undefined>(filter).flatMap(([name, value]) =>
      value === undefined ? [] : [Sql.sql`${columns[name as keyof typeof columns]} = ${value}`],
    ), // the names are those of the filter's type
  ];
  const rows = await reader.$queryRaw`
    WITH cells AS MATERIALIZED (
      SELECT date_bin(make_interval(mins => ${bucketMinutes}::int), at, 'epoch'::timestamptz) AS at, ${columns[by]} AS key, sum(calls) AS calls
        FROM decision_counts WHERE ${Sql.join(conditions, ' AND ')} GROUP BY 1, 2),
    largest AS (SELECT key FROM cells GROUP BY key ORDER BY sum(calls) DESC, key LIMIT ${seriesMax}),
    shown AS (SELECT at, largest.key, sum(calls) AS calls FROM cells LEFT JOIN largest USING (key) GROUP BY 1, 2)
    SELECT counted.size, log_head.size AS log_size, counted.newest_at,
           (SELECT coalesce(json_agg(json_build_object('at_ms', (extract(epoch FROM at) * 1000)::bigint, 'key', key, 'calls', calls)), '[]')
              FROM shown) AS cells
      FROM decision_count_head AS counted, log_head WHERE counted.id = 1`;
  return Counted.parse(rows)[0];
}
