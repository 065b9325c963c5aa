import { openServiceDatabase, type ReadOnly, type ServiceDatabase, type TransactionOf } from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/** Reads only. See `ReadOnly`. */
export type Reader = ReadOnly<PrismaClient>;

/** Reads, locks and writes inside one transaction. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

export type CommercialDatabase = ServiceDatabase<Reader, Tx>;

export function openCommercialDatabase(url: string): CommercialDatabase {
  return openServiceDatabase({ url, schema: 'commercial' }, (options) => new PrismaClient(options));
}
