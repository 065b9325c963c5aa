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

/** A Prisma client with only the reading methods of its models. It has no raw SQL, because SQL could write. */
export type ReadOnly<Client> = {
  readonly [Model in ModelOf<Client>]: Pick<Client[Model], ReadMethod & keyof Client[Model]>;
};
