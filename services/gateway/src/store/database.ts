import { openServiceDatabase, type ReadOnly, type ServiceDatabase, type TransactionOf } from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/** Read access. A function with a `Reader` cannot write: see ReadOnly. */
export type Reader = ReadOnly<PrismaClient>;

/** Reads, locks and writes atomically. Only a transaction provides it. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

export type GatewayDatabase = ServiceDatabase<Reader, Tx>;

export function openGatewayDatabase(url: string): GatewayDatabase {
  return openServiceDatabase({ url, schema: 'gateway' }, (options) => new PrismaClient(options));
}
