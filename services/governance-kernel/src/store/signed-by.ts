import { Prisma as Sql } from '../generated/prisma/client.ts';

/** The statements of a key below a size of the log. */
export type Signed = { keyId: string; below: number };

/** The entries of a key: its receipts, and those of policies whose statement it has signed, which stands in their records. */
export function signedBySql({ keyId, below }: Signed): Sql.Sql {
  return Sql.sql`log_index < ${below} AND (key_id = ${keyId} OR kind = 'policy' AND strpos(record, ${JSON.stringify(keyId)}) > 0)`;
}
