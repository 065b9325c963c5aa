import { Prisma } from '../generated/prisma/client.ts';
import type { Predicate } from '../scim/predicate.ts';

/** The SQL of an attribute: one value, or a set of values that matches when any value does. */
type FilterColumn =
  | { readonly kind: 'text' | 'boolean'; readonly sql: Prisma.Sql }
  /** `sql` is a query that returns the values in a column `value`. */
  | { readonly kind: 'values'; readonly sql: Prisma.Sql };

export type FilterColumns<Path extends string> = Readonly<Record<Path, FilterColumn>>;

const none = Prisma.sql`false`;

/** Returns a predicate as an SQL condition that is never null. Values are parameters. */
export function conditionOf<Path extends string>(predicate: Predicate<Path>, columns: FilterColumns<Path>): Prisma.Sql {
  switch (predicate.kind) {
    case 'and':
      return joined(predicate.operands, columns, ' AND ');
    case 'or':
      return joined(predicate.operands, columns, ' OR ');
    case 'not':
      return Prisma.sql`(NOT ${conditionOf(predicate.piece, columns)})`;
    case 'present':
      return holds(columns[predicate.path], presentIn(columns[predicate.path]));
    case 'boolean':
      return holds(columns[predicate.path], (sql) => Prisma.sql`${sql} = ${predicate.value}`);
    case 'string': {
      const { operator, value, path } = predicate;
      // PostgreSQL cannot store NUL, so no stored value contains it.
      const condition = value.includes('\u0000') ? none : holds(columns[path], comparison(operator, value));
      return operator === 'ne' ? Prisma.sql`(NOT ${condition})` : condition;
    }
    default:
      return predicate satisfies never;
  }
}

type Condition = (sql: Prisma.Sql) => Prisma.Sql;

function joined<Path extends string>(
  pieces: readonly Predicate<Path>[],
  columns: FilterColumns<Path>,
  word: ' AND ' | ' OR ',
): Prisma.Sql {
  const conditions = pieces.map((piece) => conditionOf(piece, columns));
  return Prisma.sql`(${Prisma.join(conditions, word)})`;
}

function holds(column: FilterColumn, condition: Condition): Prisma.Sql {
  if (column.kind !== 'values') return Prisma.sql`coalesce(${condition(column.sql)}, false)`;
  return Prisma.sql`EXISTS (SELECT FROM (${column.sql}) AS filtered(value) WHERE ${condition(Prisma.sql`filtered.value`)})`;
}

function presentIn({ kind }: FilterColumn): Condition {
  return (sql) => (kind === 'boolean' ? Prisma.sql`${sql} IS NOT NULL` : Prisma.sql`${sql} <> ''`);
}

function comparison(operator: Extract<Predicate, { kind: 'string' }>['operator'], value: string): Condition {
  switch (operator) {
    case 'eq':
    case 'ne':
      return (sql) => Prisma.sql`${sql} = ${value}`;
    case 'co':
      return (sql) => Prisma.sql`strpos(${sql}, ${value}) > 0`;
    case 'sw':
      return (sql) => Prisma.sql`starts_with(${sql}, ${value})`;
    case 'ew':
      return (sql) => Prisma.sql`right(${sql}, length(${value})) = ${value}`;
    default:
      return operator satisfies never;
  }
}
