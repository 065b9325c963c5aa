/** What messaging needs of a connection: a pg client has it, a Prisma transaction gets it from `prismaQueryable`. */
export type Queryable = {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
};

/** Runs `work` between BEGIN and COMMIT in the service's schema: rolls back and rethrows when it throws. */
export type Transaction<Tx extends Queryable = Queryable> = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>;

/**
 * Lets raw SQL run on a Prisma transaction.
 *
 * @example
 * const transaction = (work) => prisma.$transaction((tx) => work({ ...prismaQueryable(tx), prisma: tx }));
 */
export function prismaQueryable(tx: {
  $queryRawUnsafe(text: string, ...values: unknown[]): Promise<unknown>;
}): Queryable {
  return {
    // `as`: Prisma types the rows of raw SQL as unknown; they are plain objects by its documentation.
    query: async (text, values = []) => ({
      rows: (await tx.$queryRawUnsafe(text, ...values)) as Record<string, unknown>[],
    }),
  };
}
