import { Prisma as Sql } from '../generated/prisma/client.ts';

/** A key, whose signatures are searched in the first `below` entries of the log. */
export type Signed = { keyId: string; below: number };

/** The condition for entries with a signature of the key, on the receipt or on the policy statement in the record. */
export function signedBySql({ keyId, below }: Signed): Sql.Sql {
  return Sql.sql`log_index < ${below} AND (key_id = ${keyId} OR kind = 'policy' AND strpos(record, ${JSON.stringify(keyId)}) > 0)`;
}
