import type { Control, Placeholder, StoredRow } from './control.ts';

/** The mapping of one member of a row to its table. */
type Column<Value> = {
  readonly name: string;
  /** The column that is read, if its name differs. */
  readonly readFrom?: string;
  read(stored: unknown): Value;
  write(value: Value): unknown;
};

/** Both directions between a row and its columns, from one list. A member without a column does not compile. */
export function columnsOf<Row extends object>(columns: { readonly [Member in keyof Row]: Column<Row[Member]> }) {
  const entries = Object.entries<Column<unknown>>(columns as Record<string, Column<never>>); // every value is a column
  return {
    columns: entries.map(([, { name }]) => name),
    rowOf: (stored: StoredRow): Row =>
      Object.fromEntries(
        entries.map(([member, column]) => [member, column.read(stored[column.readFrom ?? column.name])]),
      ) as Row, // every member of the row has a column
    stored: (row: Row): StoredRow =>
      Object.fromEntries(entries.map(([member, column]) => [column.name, column.write(Reflect.get(row, member))])),
  };
}

/** Text that only the kernel writes, so its type is trusted. */
export function text<Text extends string>(name: string): Column<Text> {
  return checked(name, (value) => typeof value === 'string');
}

/** Amounts stay below 2^53, which JSON represents exactly. */
export function integer(name: string): Column<number> {
  return checked(name, (value) => Number.isSafeInteger(value));
}

/** An exact bigint. It is read from the column with the suffix `_text`, since a JSON number would be rounded. */
export function micros(name: string): Column<bigint> {
  const readFrom = `${name}_text`;
  return { name, readFrom, read: (value) => BigInt(text(readFrom).read(value)), write: String };
}

export function bool(name: string): Column<boolean> {
  return checked(name, (value) => typeof value === 'boolean');
}

export function texts<Text extends string>(name: string): Column<Text[]> {
  return checked(name, (value) => Array.isArray(value) && value.every((item) => typeof item === 'string'));
}

export function json<Value>(name: string): Column<Value> {
  return checked(name, (value) => typeof value === 'object' && value !== null);
}

/** timestamptz, as milliseconds since the epoch. */
export function instantMs(name: string): Column<number> {
  const read = (value: unknown): number => {
    const ms = typeof value === 'string' ? Date.parse(value) : Number.NaN;
    return Number.isNaN(ms) ? refuse(name) : ms;
  };
  return { name, read, write: (ms) => new Date(ms).toISOString() };
}

export function nullable<Value>({ name, read, write }: Column<Value>): Column<Value | null> {
  return {
    name,
    read: (value) => (value === null ? null : read(value)),
    write: (value) => (value === null ? null : write(value)),
  };
}

function checked<Value>(name: string, holds: (value: unknown) => boolean): Column<Value> {
  const read = (value: unknown) => (holds(value) ? (value as Value) : refuse(name)); // `holds` has checked it
  return { name, read, write: (value) => value };
}

function refuse(column: string): never {
  throw new Error(`The column ${column} does not hold what the kernel writes there`);
}

/** The query for the sets of a control whose keys are columns of its table. */
export function selectByKey(
  table: string,
  columns: readonly string[],
): Pick<Control<never, never>, 'select' | 'keyColumns'> {
  const names = columns.join(', ');
  return {
    keyColumns: columns.length,
    select: (parameter) =>
      `SELECT r.* FROM ${keys(parameter, columns.length)} AS wanted(${names}) JOIN ${table} r USING (${names})`,
  };
}

export function keys(parameter: Placeholder, count: number): string {
  return `unnest(${Array.from({ length: count }, (_, index) => parameter(index)).join(', ')})`;
}

/** Locks the rows of `select` in the order of the primary key, which all transactions use. */
export function lockInOrder(
  { table, primaryKey }: { table: string; primaryKey: readonly string[] },
  select: (parameter: Placeholder) => string,
): (parameter: Placeholder) => string {
  const key = primaryKey.join(', ');
  return (parameter) =>
    `SELECT 1 FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM (${select(parameter)}) AS found) ORDER BY ${key} FOR UPDATE`;
}
