/** The part of a connection that messaging needs: a pg client has it. */
export type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** Runs `work` between BEGIN and COMMIT in the service's schema: rolls back and rethrows when it throws. */
export type Transaction<Tx extends Queryable = Queryable> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** The same part of a Prisma transaction. */
export type PrismaTransaction = { $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): PromiseLike<Rows> };

/** A transaction of Prisma's as messaging wants it. */
export function queryableOf(tx: PrismaTransaction): Queryable {
  return { query: async (text, values = []) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }) };
}
