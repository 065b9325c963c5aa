import { openDatabase, withoutValues, type Database, type ReadOnly } from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/** Reads. A function that is handed this cannot write: see ReadOnly. */
export type Reader = ReadOnly<PrismaClient>;

/** Reads, locks and writes, all of it or none. Only a transaction hands one out. */
export type Tx = Prisma.TransactionClient;

/** Resolves after the commit; rolls back and rethrows when `work` throws. At READ COMMITTED: what must not move is locked. */
export type Transaction = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

export type ControlPlaneDatabase = {
  /** What the connections report, for whoever watches what is sent. */
  readonly pool: Pick<Database['pool'], 'on'>;
  readonly reader: Reader;
  readonly transaction: Transaction;
  /** Rejects when no statement can be answered right now. */
  ping(): Promise<void>;
  close(): Promise<void>;
};

export function openControlPlaneDatabase(url: string): ControlPlaneDatabase {
  const database = openDatabase({ url, schema: 'control_plane' });
  const prisma = new PrismaClient(database.prismaOptions);
  return {
    pool: database.pool,
    reader: prisma,
    transaction: (work) =>
      prisma.$transaction(work).catch((error: unknown) => {
        throw withoutValues(error);
      }),
    ping: database.ping,
    close: async () => {
      await prisma.$disconnect();
      await database.close();
    },
  };
}
