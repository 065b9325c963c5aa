import type pg from 'pg';

type CopiedTable = {
  table: string;
  /**
   * SQL for the columns whose values differ in a copy. All other columns are copied unchanged, including those of later
   * migrations.
   */
  own: Record<string, string>;
  /** The source of the copied rows, under the name `original`. */
  from: string;
};

/**
 * Makes a statement that inserts copies of rows. The copied rows come from the kernel itself, so their copies have the
 * same form.
 */
export async function rowCopier(
  client: pg.Client,
  { table, own, from }: CopiedTable,
): Promise<(values: unknown[]) => Promise<number>> {
  const columns = await columnsOf(client, table);
  const unknown = Object.keys(own).filter((column) => !columns.includes(column));
  if (unknown.length > 0) throw new Error(`${table} has no column ${unknown.join(', ')}`);
  const names = columns.map((column) => client.escapeIdentifier(column));
  const expressions = columns.map((column) => own[column] ?? `original.${client.escapeIdentifier(column)}`);
  const into = `${client.escapeIdentifier(table)} (${names.join(', ')})`;
  const text = `INSERT INTO ${into} SELECT ${expressions.join(', ')} FROM ${from}`;
  return async (values) => (await client.query(text, values)).rowCount ?? 0;
}

export async function columnsOf(client: pg.Client, table: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT attname AS name FROM pg_attribute
      WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum`,
    [table],
  );
  return rows.map(({ name }) => name);
}
