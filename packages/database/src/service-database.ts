import { withoutValues } from './failures.ts';
import { openDatabase, type Database, type OpenDatabaseOptions } from './open-database.ts';

/** Resolves after the commit; rolls back and rethrows when `work` throws. At READ COMMITTED: what must not move is locked. */
export type TransactionOf<Tx> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** A service's own schema by its Prisma client: `Reader` is what reads it, `Tx` what a transaction of it hands out. */
export type ServiceDatabase<Reader, Tx> = {
  /** Events of the connections, for observers of the sent statements. */
  readonly pool: Pick<Database['pool'], 'on'>;
  readonly reader: Reader;
  readonly transaction: TransactionOf<Tx>;
  /** Rejects when no statement can be answered right now. */
  ping(): Promise<void>;
  /** PostgreSQL's clock, in milliseconds: the one that all services share. */
  nowMs(): Promise<number>;
  close(): Promise<void>;
};

type Client<Tx> = {
  $transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  $disconnect(): Promise<void>;
};

/**
 * Opens a service's schema with the client that was generated for it. The error of a rejected transaction holds no
 * values of rows.
 *
 * @example
 * openServiceDatabase<Reader, Tx>({ url, schema: 'gateway' }, (options) => new PrismaClient(options));
 */
export function openServiceDatabase<Reader, Tx>(
  options: OpenDatabaseOptions,
  createPrisma: (options: Database['prismaOptions']) => Reader & Client<Tx>,
): ServiceDatabase<Reader, Tx> & Pick<Database, 'pool'> {
  const database = openDatabase(options);
  const prisma = createPrisma(database.prismaOptions);
  return {
    pool: database.pool,
    reader: prisma,
    transaction: (work) =>
      prisma.$transaction(work).catch((error: unknown) => {
        throw withoutValues(error);
      }),
    ping: database.ping,
    nowMs: database.nowMs,
    close: async () => {
      await prisma.$disconnect();
      await database.close();
    },
  };
}
