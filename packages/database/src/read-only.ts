type ReadMethod =
  | 'findUnique'
  | 'findUniqueOrThrow'
  | 'findFirst'
  | 'findFirstOrThrow'
  | 'findMany'
  | 'count'
  | 'aggregate'
  | 'groupBy';

type ModelOf<Client> = Exclude<keyof Client, `$${string}` | symbol>;

/** A Prisma client by its reading methods alone: no model of it writes, and it takes no SQL, which could. */
export type ReadOnly<Client> = {
  readonly [Model in ModelOf<Client>]: Pick<Client[Model], ReadMethod & keyof Client[Model]>;
};
