import {
  openServiceDatabase,
  type Database,
  type ReadOnly,
  type ServiceDatabase,
  type TransactionOf,
} from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/**
 * Read access. A function with a `Reader` cannot write: see ReadOnly. Its SQL is only SELECT, and the rows are parsed.
 */
export type Reader = ReadOnly<PrismaClient> & Pick<PrismaClient, '$queryRaw'>;

/** Reads, locks and writes atomically. Only a transaction provides it. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

/** `pool`: only for the ledger's statements. */
export type KernelDatabase = ServiceDatabase<Reader, Tx> & Pick<Database, 'pool'>;

export function openKernelDatabase(url: string, { connectionsMax }: { connectionsMax?: number } = {}): KernelDatabase {
  const poolMax = connectionsMax === undefined ? {} : { poolMax: connectionsMax };
  return openServiceDatabase({ url, schema: 'kernel', ...poolMax }, (options) => new PrismaClient(options));
}
