import { withoutValues } from './failures.ts';
import { openDatabase, type Database, type OpenDatabaseOptions } from './open-database.ts';

/**
 * Resolves after the commit. Rolls back and rethrows when `work` throws. The isolation level is READ COMMITTED, so
 * `work` must lock the rows that must not change.
 */
export type TransactionOf<Tx> = <Result>(work: (tx: Tx) => Promise<Result>) => Promise<Result>;

/** A service's own schema with its Prisma client. `Reader` reads it, and `Tx` is the client within a transaction. */
export type ServiceDatabase<Reader, Tx> = {
  /** Events of the connections, for observers of statements. */
  readonly pool: Pick<Database['pool'], 'on'>;
  readonly reader: Reader;
  readonly transaction: TransactionOf<Tx>;
  /** Rejects when statements fail at the moment. */
  ping(): Promise<void>;
  /** PostgreSQL's clock in milliseconds. All services share it. */
  nowMs(): Promise<number>;
  close(): Promise<void>;
};

type Client<Tx> = {
  $transaction<Result>(work: (tx: Tx) => Promise<Result>): Promise<Result>;
  $disconnect(): Promise<void>;
};

/**
 * Opens the schema of a service with its generated client. When a transaction rejects with a validation error of
 * Prisma, the error does not contain the values of the call.
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
