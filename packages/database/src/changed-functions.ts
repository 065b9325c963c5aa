import type pg from 'pg';

/**
 * Runs the statements of `text`, and returns those that changed a function or a trigger of the schema. Each statement
 * begins with CREATE OR REPLACE. The comments above a statement belong to it.
 */
export async function changedFunctions(client: pg.Client, text: string): Promise<string[]> {
  const changed: string[] = [];
  let before = await definitions(client);
  for (const statement of statementsOf(text)) {
    await client.query(statement);
    const after = await definitions(client);
    if (after !== before) changed.push(statement);
    before = after;
  }
  return changed;
}

/** A statement ends with a semicolon at the end of a line that is not between `$$`. */
function statementsOf(text: string): string[] {
  const statements: string[] = [];
  let lines: string[] = [];
  for (const line of text.split('\n')) {
    lines.push(line);
    const statement = lines.join('\n');
    if (!line.endsWith(';') || statement.split('$$').length % 2 === 0) continue;
    statements.push(statement.trim());
    lines = [];
  }
  const rest = lines.join('\n').trim();
  if (rest !== '') throw new Error(`The functions end with an incomplete statement: ${rest.slice(0, 80)}`);
  return statements;
}

/** All functions and triggers of the schema, as PostgreSQL prints them. */
async function definitions(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ definitions: string | null }>(`
    SELECT string_agg(definition, '' ORDER BY definition) AS definitions FROM (
      SELECT pg_get_functiondef(p.oid) AS definition FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace
      UNION ALL
      SELECT pg_get_triggerdef(t.oid) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
       WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
    ) AS found`);
  return rows[0]?.definitions ?? '';
}
