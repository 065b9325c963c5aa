import { PrismaPg } from '@prisma/adapter-pg';
import type { SqlDriverAdapter, SqlDriverAdapterFactory, Transaction } from '@prisma/driver-adapter-utils';
import type pg from 'pg';

/** Prisma's own driver on our pool. In addition, an aborted transaction is never reported as committed. */
export function prismaAdapter(pool: pg.Pool, schema: string): SqlDriverAdapterFactory {
  const driver = new PrismaPg(pool, { schema });
  return {
    provider: driver.provider,
    adapterName: driver.adapterName,
    connect: async () => withHonestCommit(await driver.connect()),
  };
}

function withHonestCommit(adapter: SqlDriverAdapter): SqlDriverAdapter {
  return {
    provider: adapter.provider,
    adapterName: adapter.adapterName,
    queryRaw: (query) => adapter.queryRaw(query),
    executeRaw: (query) => adapter.executeRaw(query),
    executeScript: (script) => adapter.executeScript(script),
    getConnectionInfo: () => adapter.getConnectionInfo?.() ?? { supportsRelationJoins: true },
    dispose: () => adapter.dispose(),
    startTransaction: async (isolationLevel) => honestTransaction(await adapter.startTransaction(isolationLevel)),
  };
}

/**
 * PostgreSQL answers COMMIT of an aborted transaction with ROLLBACK and no error, and Prisma ignores that. Code that
 * caught an error would then assume a commit. Savepoints are not offered, because a rollback to a savepoint would end
 * the abort that this function records.
 */
function honestTransaction(transaction: Transaction): Transaction {
  let isAborted = false;
  const noting = async <Result>(answer: Promise<Result>): Promise<Result> => {
    try {
      return await answer;
    } catch (error) {
      isAborted = true;
      throw error;
    }
  };
  return {
    provider: transaction.provider,
    adapterName: transaction.adapterName,
    options: transaction.options,
    queryRaw: (query) => noting(transaction.queryRaw(query)),
    executeRaw: async (query) => {
      if (!isAborted || query.sql !== 'COMMIT') return noting(transaction.executeRaw(query));
      await transaction.executeRaw({ sql: 'ROLLBACK', args: [], argTypes: [] });
      throw new Error('The transaction was aborted by an earlier error and was rolled back.');
    },
    commit: () => transaction.commit(),
    rollback: () => transaction.rollback(),
  };
}
