import { quoteIdentifier } from './identifier.ts';

/** Session settings that travel in the start packet, so that no statement can run before they hold. */
export function connectionOptions({ schema, role }: { schema: string; role?: string | undefined }): string {
  // The names are checked first: the value is split at spaces by the server.
  quoteIdentifier(schema);
  // Prisma's driver sends and reads instants as UTC without saying so: in a session of another time zone each would
  // shift. A statement that waited for a lock must see the changes of the one before it, whatever the database's
  // default isolation is. An answered request is on disk, whatever the database's default is.
  const promised = '-c default_transaction_isolation=read\\ committed -c synchronous_commit=on';
  const settings = `-c search_path=${schema} -c TimeZone=UTC ${promised}`;
  if (role === undefined) return settings;
  quoteIdentifier(role);
  return `${settings} -c role=${role}`;
}
