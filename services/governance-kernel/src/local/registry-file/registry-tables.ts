import type { z } from 'zod';
import { answersKeptMs } from '@countersign/idempotency';
import { StaleFacts } from '../../ledger/commit.ts';
import type { AnyControl, StoredRow } from '../../ledger/control.ts';
import type { Writes } from '../../ledger/writes.ts';

type JsonValue = z.core.util.JSONType;
type TableRow = Record<string, JsonValue>;
export type Tables = Readonly<Record<string, readonly TableRow[]>>;

export function tableNames(controls: readonly AnyControl[]): Set<string> {
  return new Set(controls.flatMap(({ writes }) => writes?.table ?? []));
}

/** Initial values of columns that the inserting control does not write. */
const defaults: Readonly<Record<string, TableRow>> = {
  budgets: {
    ...{ used_tool_calls: 0, used_spend_micros: '0', used_egress_bytes: 0, used_writes: 0 },
    ...{ reserved_tool_calls: 0, reserved_spend_micros: '0', reserved_egress_bytes: 0, reserved_writes: 0 },
    revision: 0,
  },
};

/** The rows of a control as its `select` returns them. */
export function rowsOfTables(
  { writes, name }: AnyControl,
  { tables, placeOf }: { tables: Tables; placeOf(ulid: string): number },
): StoredRow[] {
  const rows = (writes === undefined ? undefined : tables[writes.table]) ?? [];
  return rows.map((row) => {
    const texts = Object.entries(row).filter(([column]) => column.endsWith('_micros'));
    const read = { ...row, ...Object.fromEntries(texts.map(([column, value]) => [`${column}_text`, value])) };
    if (name !== 'answers') return read;
    return { ...read, log_index: typeof row['ulid'] === 'string' ? placeOf(row['ulid']) : null };
  });
}

type Written = { readonly control: AnyControl; readonly rows: readonly StoredRow[] };

/** The tables after these rows were put. Throws StaleFacts when a row differs from what was read. */
export function withPut(tables: Tables, { control, rows }: Written): Tables {
  const writes = writesOf(control);
  const before = tables[writes.table] ?? [];
  const after = new Map(before.map((row) => [keyOf(writes, row), row]));
  for (const stored of rows) {
    const row = asJson(stored);
    const key = keyOf(writes, row);
    after.set(key, putOver(control, after.get(key), row));
  }
  return { ...tables, [writes.table]: [...after.values()] };
}

/** Throws StaleFacts when a row is already gone. */
export function withDropped(tables: Tables, { control, rows }: Written): Tables {
  const writes = writesOf(control);
  const after = new Map((tables[writes.table] ?? []).map((row) => [keyOf(writes, row), row]));
  for (const row of rows)
    if (!after.delete(keyOf(writes, asJson(row)))) throw new StaleFacts(`A row of ${control.name} is already gone`);
  return { ...tables, [writes.table]: [...after.values()] };
}

/** Throws StaleFacts unless these rows have the revision that was read. */
export function requireRevisions(tables: Tables, { control, rows }: Written): void {
  const writes = writesOf(control);
  const current = new Map((tables[writes.table] ?? []).map((row) => [keyOf(writes, row), row]));
  for (const row of rows) requireRevision(control, current.get(keyOf(writes, asJson(row))), asJson(row));
}

function putOver(control: AnyControl, current: TableRow | undefined, row: TableRow): TableRow {
  const { put, primaryKey, table } = writesOf(control);
  switch (put.kind) {
    case 'insert':
      if (current !== undefined) throw new Error(`The row of ${control.name} exists already`);
      return row;
    case 'insert_once':
      if (current !== undefined) throw new StaleFacts(`The row of ${control.name} exists already`);
      return row;
    case 'update':
      return { ...requireRevision(control, current, row), ...row, revision: Number(row['revision']) + 1 };
    case 'body':
      return putByBody(control, current, row);
    case 'upsert': {
      if (current === undefined) return { ...defaults[table], ...row };
      const columns = put.updated ?? (control.columns ?? []).filter((column) => !primaryKey.includes(column));
      const changed = columns.map((column) => [column, row[column] ?? null] as const);
      return { ...current, ...Object.fromEntries(changed), ...merged(control, put.merged ?? {}, { current, row }) };
    }
  }
}

/** The `merged` columns, which keep their first value. Throws for other expressions, which need a database. */
function merged(
  { name }: AnyControl,
  expressions: Readonly<Record<string, string>>,
  { current, row }: { current: TableRow; row: TableRow },
): TableRow {
  return Object.fromEntries(
    Object.entries(expressions).map(([column, expression]) => {
      if (expression !== `coalesce(t.${column}, excluded.${column})`) throw notKept(name);
      return [column, current[column] ?? row[column] ?? null];
    }),
  );
}

function putByBody({ name }: AnyControl, current: TableRow | undefined, row: TableRow): TableRow {
  switch (name) {
    case 'policy_heads':
      return row;
    case 'answers':
      if (current !== undefined && !isForgotten(current, row)) throw new StaleFacts('The key has an answer already');
      return row;
    default:
      throw notKept(name);
  }
}

/** An answer is stored for 24 hours, as in the database. */
function isForgotten(current: TableRow, row: TableRow): boolean {
  return Date.parse(String(current['created_at'])) <= Date.parse(String(row['created_at'])) - answersKeptMs;
}

function requireRevision({ name }: AnyControl, current: TableRow | undefined, row: TableRow): TableRow {
  if (current === undefined || current['revision'] !== row['revision'])
    throw new StaleFacts(`A row of ${name} has another revision`);
  return current;
}

function writesOf({ name, writes }: AnyControl): Writes {
  if (writes === undefined) throw notKept(name);
  return writes;
}

function notKept(name: string): Error {
  return new Error(`The registry file does not keep ${name}. Use a kernel with a database.`);
}

function keyOf({ primaryKey }: Writes, row: TableRow): string {
  return JSON.stringify(primaryKey.map((column) => row[column] ?? null));
}

/** Converts rows to JSON, without members that have no value. */
function asJson(row: StoredRow): TableRow {
  return JSON.parse(JSON.stringify(row)) as TableRow; // JSON has no other values
}
