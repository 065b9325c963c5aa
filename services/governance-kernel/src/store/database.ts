import {
  openServiceDatabase,
  type Database,
  type ReadOnly,
  type ServiceDatabase,
  type TransactionOf,
} from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/**
 * Reads. A function that is handed this cannot write: see ReadOnly. Its SQL is only SELECT, and the rows are parsed.
 */
export type Reader = ReadOnly<PrismaClient> & Pick<PrismaClient, '$queryRaw'>;

/** Reads, locks and writes, all of it or none. Only a transaction hands one out. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

/** `pool`: for the ledger's transaction alone. */
export type KernelDatabase = ServiceDatabase<Reader, Tx> & Pick<Database, 'pool'>;

export function openKernelDatabase(url: string, { connectionsMax }: { connectionsMax?: number } = {}): KernelDatabase {
  const poolMax = connectionsMax === undefined ? {} : { poolMax: connectionsMax };
  return openServiceDatabase({ url, schema: 'kernel', ...poolMax }, (options) => new PrismaClient(options));
}
