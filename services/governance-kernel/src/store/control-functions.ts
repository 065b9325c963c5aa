import type { AnyControl } from '../ledger/control.ts';
import type { Writes } from '../ledger/writes.ts';
import { assignments, identifier, list, returning } from './sql-text.ts';

/** A control with the members from which its functions are generated. */
type WrittenControl = Pick<AnyControl, 'name' | 'comparesReads'> & { writes: Writes; columns: readonly string[] };

/**
 * The controls whose functions are generated. A control without `stored` and `writes` has no functions, since other
 * statements write its rows. Throws when the members that describe rows are incomplete.
 */
export function writtenControls(controls: readonly AnyControl[]): WrittenControl[] {
  return controls.flatMap(({ name, comparesReads, stored, writes, columns }) => {
    if (stored === undefined && writes === undefined) return [];
    if (stored === undefined || writes === undefined || columns === undefined)
      throw new Error(`The control ${name} needs stored, writes and columns together, or none of the three`);
    return [{ name, writes, columns, ...(comparesReads && { comparesReads }) }];
  });
}

/** The functions `put_…`, `check_…` and `drop_…` of a control. */
export function controlFunctions(control: WrittenControl): string[] {
  const { comparesReads, writes } = control;
  const put = returning(`put_${control.name}(puts jsonb)`, putBody(control));
  const check = comparesReads === true ? [returning(`check_${control.name}(reads jsonb)`, checkBody(control))] : [];
  const drop = writes.drops === true ? [returning(`drop_${control.name}(drops jsonb)`, dropBody(control))] : [];
  return [put, ...check, ...drop];
}

function putBody(control: WrittenControl): string {
  const { put } = control.writes;
  switch (put.kind) {
    case 'upsert':
      return `BEGIN\n${insert(control, 'AS t ')}\n${onConflict(control, put)};\nEND `;
    case 'insert':
      return `BEGIN\n${insert(control)};\nEND `;
    case 'insert_once':
      return counted(control, `${insert(control)}\n  ON CONFLICT DO NOTHING;`);
    case 'update':
      return counted(control, update(control));
    case 'body':
      return put.body;
    default:
      return unknownKind(put);
  }
}

function insert({ writes, columns }: WrittenControl, alias = ''): string {
  const { table, primaryKey, defaults = {} } = writes;
  const values = columns.map((column) => {
    const value = defaults[column];
    return value === undefined ? `p.${column}` : `coalesce(p.${column}, ${value})`;
  });
  const into = `  INSERT INTO ${table} ${alias}(`;
  return [
    `${into}${list(columns.map(identifier), { indent: 4, start: into.length })})`,
    `  SELECT ${list(values, { indent: 9 })}`,
    `    FROM ${rowsOf(table, 'puts')} AS p ORDER BY ${of('p', primaryKey)}`,
  ].join('\n');
}

type Upsert = Extract<Writes['put'], { kind: 'upsert' }>;

function onConflict({ writes, columns }: WrittenControl, { updated, merged = {} }: Upsert): string {
  const { primaryKey } = writes;
  const changed = updated ?? columns.filter((column) => !primaryKey.includes(column) && !(column in merged));
  const replaced = changed.map((column) => [column, `excluded.${column}`] as const);
  return `  ON CONFLICT (${primaryKey.join(', ')}) DO UPDATE SET\n${assignments([...replaced, ...Object.entries(merged)])}`;
}

function update({ writes: { table, primaryKey }, columns }: WrittenControl): string {
  const counts = columns.filter((column) => !primaryKey.includes(column) && column !== 'revision');
  const sets = [...counts.map((column) => [column, `p.${column}`] as const), ['revision', 't.revision + 1'] as const];
  return [
    `  PERFORM 1 FROM ${table} t JOIN ${rowsOf(table, 'puts')} AS p USING (${primaryKey.join(', ')})`,
    `    ORDER BY ${of('t', primaryKey)} FOR UPDATE OF t;`,
    `  UPDATE ${table} t SET`,
    assignments(sets),
    `    FROM ${rowsOf(table, 'puts')} AS p`,
    `   WHERE ${[...primaryKey, 'revision'].map((column) => `t.${column} = p.${column}`).join(' AND ')};`,
  ].join('\n');
}

/** A function body that refuses the batch as stale unless its statement writes every row. */
function counted({ name }: WrittenControl, statement: string): string {
  return `DECLARE
  written bigint;
BEGIN
${statement}
  GET DIAGNOSTICS written = ROW_COUNT;
  IF written <> jsonb_array_length(puts) THEN PERFORM refuse_stale('${name}'); END IF;
END `;
}

/** Refuses the batch as stale if a row that it read, but does not change, has a different revision now. */
function checkBody({ name, writes: { table, primaryKey } }: WrittenControl): string {
  return `DECLARE
  unmoved bigint;
BEGIN
  SELECT count(*) INTO unmoved FROM ${rowsOf(table, 'reads')} AS r
    JOIN ${table} t USING (${primaryKey.join(', ')}) WHERE t.revision = r.revision;
  IF unmoved <> jsonb_array_length(reads) THEN PERFORM refuse_stale('${name}'); END IF;
END `;
}

function dropBody(control: WrittenControl): string {
  const { table, primaryKey } = control.writes;
  const [key, ...rest] = primaryKey;
  if (key === undefined || rest.length > 0)
    throw new Error(`The control ${control.name} drops rows, so its primary key must be one column of text`);
  return `DECLARE
  gone bigint;
  settled text[] := ARRAY(SELECT d ->> '${key}' FROM jsonb_array_elements(drops) AS d);
BEGIN
  PERFORM 1 FROM ${table} WHERE ${key} = ANY (settled) ORDER BY ${key} FOR UPDATE;
  DELETE FROM ${table} WHERE ${key} = ANY (settled);
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone <> cardinality(settled) THEN PERFORM refuse_stale('${control.name}'); END IF;
END `;
}

function rowsOf(table: string, rows: string): string {
  return `jsonb_populate_recordset(NULL::${table}, ${rows})`;
}

function of(alias: string, columns: readonly string[]): string {
  return columns.map((column) => `${alias}.${column}`).join(', ');
}

function unknownKind(put: never): never {
  throw new Error(`Unknown kind of put: ${JSON.stringify(put)}`);
}
