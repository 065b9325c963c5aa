import { quoteIdentifier } from './identifier.ts';

/** Session settings in the startup message, so that they are in force before the first statement. */
export function connectionOptions({ schema, role }: { schema: string; role?: string | undefined }): string {
  // The names are checked first, because the server splits the value at spaces.
  quoteIdentifier(schema);
  // Prisma's driver sends and reads instants in UTC without a time zone, so another session time zone would shift them.
  // READ COMMITTED: a statement that waited for a lock sees the changes of the previous holder. synchronous_commit: a
  // confirmed commit is on disk. None of the three depends on the defaults of the database.
  const promised = '-c default_transaction_isolation=read\\ committed -c synchronous_commit=on';
  const settings = `-c search_path=${schema} -c TimeZone=UTC ${promised}`;
  if (role === undefined) return settings;
  quoteIdentifier(role);
  return `${settings} -c role=${role}`;
}
