import { openServiceDatabase, type ReadOnly, type ServiceDatabase, type TransactionOf } from '@countersign/database';
import { PrismaClient, type Prisma } from '../generated/prisma/client.ts';

/** Reads. A function that is handed this cannot write: see ReadOnly. */
export type Reader = ReadOnly<PrismaClient>;

/** Reads, locks and writes, all of it or none. Only a transaction hands one out. */
export type Tx = Prisma.TransactionClient;

export type Transaction = TransactionOf<Tx>;

/** A transaction that makes one kind of thing. */
export type TransactionFor<Made> = (work: (tx: Tx) => Promise<Made>) => Promise<Made>;

export type ControlPlaneDatabase = ServiceDatabase<Reader, Tx>;

export function openControlPlaneDatabase(url: string): ControlPlaneDatabase {
  return openServiceDatabase({ url, schema: 'control_plane' }, (options) => new PrismaClient(options));
}
