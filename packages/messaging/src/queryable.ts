/** The part of a connection that messaging needs. A pg client has it. */
export type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** Runs `work` between BEGIN and COMMIT in the service's schema. Rolls back and rethrows when it throws. */
export type Transaction<Tx extends Queryable = Queryable> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/** The part of a Prisma transaction that messaging needs. */
export type PrismaTransaction = { $queryRawUnsafe<Rows>(text: string, ...values: unknown[]): PromiseLike<Rows> };

/** Adapts a Prisma transaction to messaging. */
export function queryableOf(tx: PrismaTransaction): Queryable {
  return { query: async (text, values = []) => ({ rows: await tx.$queryRawUnsafe(text, ...values) }) };
}
