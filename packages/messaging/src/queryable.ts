/** What messaging needs of a connection: a pg client has it. */
export type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** Runs `work` between BEGIN and COMMIT in the service's schema: rolls back and rethrows when it throws. */
export type Transaction<Tx extends Queryable = Queryable> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** Of a transaction of Prisma's. */
export type PrismaTransaction = { $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): PromiseLike<Rows> };

/** A transaction of Prisma's as messaging wants it. */
export function queryableOf(tx: PrismaTransaction): Queryable {
  return { query: async (text, values = []) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }) };
}
