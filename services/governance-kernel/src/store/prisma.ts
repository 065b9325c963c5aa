import type { Database, ReadOnly } from '@countersign/database';
import { PrismaClient } from '../generated/prisma/client.ts';

/** Reads and writes, one statement at a time: for everything that is not the ledger's. */
export type Prisma = PrismaClient;

/** Reads. A function that is handed this cannot write: see ReadOnly. */
export type Reader = ReadOnly<PrismaClient>;

/** Prisma on the same pool as the ledger's transaction. */
export function openPrisma({ prismaOptions }: Database): Prisma {
  return new PrismaClient(prismaOptions);
}
