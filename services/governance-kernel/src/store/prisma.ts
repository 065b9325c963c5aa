import type { Database } from '@countersign/database';
import { PrismaClient } from '../generated/prisma/client.ts';

export type Prisma = PrismaClient;

/** Prisma on the same pool as the ledger's raw SQL: for everything that is not on the decision path. */
export function openPrisma({ adapter }: Database): Prisma {
  return new PrismaClient({ adapter });
}
