import { Prisma } from '../generated/prisma/client.ts';
import type { Predicate } from '../scim/predicate.ts';

/** The SQL of an attribute: one value, or a condition that has to hold for one of its values. */
type FilterColumn =
  | { readonly kind: 'text' | 'boolean'; readonly sql: Prisma.Sql }
  /** `sql` is the set of values as a query whose column is `value`. */
  | { readonly kind: 'values'; readonly sql: Prisma.Sql };

export type FilterColumns<Path extends string> = Readonly<Record<Path, FilterColumn>>;

const none = Prisma.sql`false`;

/** A predicate as a condition that is never null. Values are parameters. */
export function conditionOf<Path extends string>(predicate: Predicate<Path>, columns: FilterColumns<Path>): Prisma.Sql {
  switch (predicate.kind) {
    case 'and':
      return joined(predicate.parts, columns, ' AND ');
    case 'or':
      return joined(predicate.parts, columns, ' OR ');
    case 'not':
      return Prisma.sql`(NOT ${conditionOf(predicate.part, columns)})`;
    case 'present':
      return holds(columns[predicate.path], presentIn(columns[predicate.path]));
    case 'boolean':
      return holds(columns[predicate.path], (sql) => Prisma.sql`${sql} = ${predicate.value}`);
    case 'string': {
      const { operator, value, path } = predicate;
      // PostgreSQL stores no NUL, so no value has one.
      const condition = value.includes('\u0000') ? none : holds(columns[path], comparison(operator, value));
      return operator === 'ne' ? Prisma.sql`(NOT ${condition})` : condition;
    }
    default:
      return predicate satisfies never;
  }
}

type Condition = (sql: Prisma.Sql) => Prisma.Sql;

function joined<Path extends string>(
  parts: readonly Predicate<Path>[],
  columns: FilterColumns<Path>,
  word: ' AND ' | ' OR ',
): Prisma.Sql {
  const conditions = parts.map((part) => conditionOf(part, columns));
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
