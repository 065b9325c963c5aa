import { openServiceDatabase, type ReadOnly, type ServiceDatabase, type TransactionOf } from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/** Reads only. See `ReadOnly`. */
export type Reader = ReadOnly<PrismaClient>;

/** Reads, locks and writes inside one transaction. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

export type CommercialDatabase = ServiceDatabase<Reader, Tx>;

/** Runs several reads on one snapshot of the database. */
export type Snapshot = <Result>(work: (reader: Reader) => Promise<Result>) => Promise<Result>;

export function snapshotOf({ transaction }: CommercialDatabase): Snapshot {
  return (work) =>
    transaction(async (tx) => {
      await tx.$executeRaw`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`;
      return await work(tx);
    });
}

export function openCommercialDatabase(url: string): CommercialDatabase {
  return openServiceDatabase({ url, schema: 'commercial' }, (options) => new PrismaClient(options));
}
