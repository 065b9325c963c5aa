import type pg from 'pg';
import { quoteIdentifier } from './identifier.ts';

// A migration marks a table with `COMMENT ON TABLE "receipts" IS 'append-only'`. The comment is stored with the table,
// so it survives `prisma migrate deploy`, and a migration needs no role names.
const rightsByMark: [mark: string, rights: string][] = [
  ['append-only', 'SELECT, INSERT'],
  ['never deleted', 'SELECT, INSERT, UPDATE'],
  ['written by triggers', 'SELECT'],
];
const migrationsTable = '_prisma_migrations';

/** Grants `role` its rights on each table of `schema`. The owner of the tables must run it. */
export async function grantTableRights(
  client: pg.Client,
  { schema, role }: { schema: string; role: string },
): Promise<void> {
  const { rows } = await client.query<{ name: string; mark: string | null }>(
    `SELECT relname AS name, obj_description(oid, 'pg_class') AS mark
       FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') ORDER BY relname`,
    [quoteIdentifier(schema)],
  );
  const grantee = quoteIdentifier(role);
  const statements = rows.flatMap(({ name, mark }) => {
    const table = `${quoteIdentifier(schema)}.${client.escapeIdentifier(name)}`;
    return [`REVOKE ALL ON ${table} FROM ${grantee}`, `GRANT ${rightsFor(name, mark)} ON ${table} TO ${grantee}`];
  });
  statements.push(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA ${quoteIdentifier(schema)} TO ${grantee}`);
  // One implicit transaction, so a running service never loses its rights between REVOKE and GRANT.
  await client.query(statements.join(';\n'));
}

function rightsFor(table: string, mark: string | null): string {
  if (table === migrationsTable) return 'SELECT';
  const marked = rightsByMark.find(([start]) => mark?.startsWith(start));
  return marked?.[1] ?? 'SELECT, INSERT, UPDATE, DELETE';
}
