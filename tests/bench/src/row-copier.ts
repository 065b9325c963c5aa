import type pg from 'pg';

type CopiedTable = {
  table: string;
  /** SQL for the columns that a copy has of its own. All others are copied as they are, also those of later migrations. */
  own: Record<string, string>;
  /** Names the rows that are copied as `original`. */
  from: string;
};

/**
 * Makes a statement that inserts copies of rows. The pattern is a row of the kernel itself, so a fill cannot differ
 * from real rows.
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
