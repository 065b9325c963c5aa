import { openServiceDatabase, type ReadOnly, type ServiceDatabase, type TransactionOf } from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/** Read access. A function with a `Reader` cannot write: see ReadOnly. */
export type Reader = ReadOnly<PrismaClient>;

/** Reads, locks and writes atomically. Only a transaction provides it. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

/** A transaction that creates an object of one kind. */
export type TransactionFor<Made> = (work: (tx: Tx) => Promise<Made>) => Promise<Made>;

export type ControlPlaneDatabase = ServiceDatabase<Reader, Tx>;

export function openControlPlaneDatabase(url: string): ControlPlaneDatabase {
  return openServiceDatabase({ url, schema: 'control_plane' }, (options) => new PrismaClient(options));
}
