import { quoteIdentifier } from './identifier.ts';

/** Session settings that travel in the start packet, so that no statement can run before they hold. */
export function connectionOptions({ schema, role }: { schema: string; role?: string | undefined }): string {
  // The names are checked first: the value is split at spaces by the server.
  quoteIdentifier(schema);
  const searchPath = `-c search_path=${schema}`;
  if (role === undefined) return searchPath;
  quoteIdentifier(role);
  return `${searchPath} -c role=${role}`;
}
