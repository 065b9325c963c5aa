import { parse, type Filter } from 'scim2-parse-filter';
import { scanFilter } from './filter-text.ts';
import type { FilterAttribute, Predicate, StringOperator } from './predicate.ts';
import { scimRefusal } from './scim-refusal.ts';
import { withoutSchema } from './schema-prefix.ts';

type Names<Path extends string> = {
  readonly attributes: readonly FilterAttribute<Path>[];
  /** Schemas whose URI may precede a name. */
  readonly schemas: readonly string[];
};

const stringOperators: Readonly<Record<string, StringOperator>> = { eq: 'eq', ne: 'ne', co: 'co', sw: 'sw', ew: 'ew' };

/**
 * Compiles a filter (RFC 7644 §3.4.2.2) over these attributes. Throws `invalidFilter`, which names the invalid
 * attribute or operator.
 */
export function compileFilter<Path extends string>(filter: string, names: Names<Path>): Predicate<Path> {
  const { text, values } = scanFilter(filter);
  return compiled(parsed(text), { names, values });
}

type Scope<Path extends string> = { readonly names: Names<Path>; readonly values: readonly (string | null)[] };

function parsed(text: string): Filter {
  try {
    return parse(text);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : '';
    throw scimRefusal('invalidFilter', `The filter does not follow the grammar of RFC 7644 §3.4.2.2: ${message}.`);
  }
}

function compiled<Path extends string>(filter: Filter, scope: Scope<Path>): Predicate<Path> {
  switch (filter.op) {
    case 'and':
    case 'or':
      return { kind: filter.op, operands: filter.filters.map((piece) => compiled(piece, scope)) };
    case 'not':
      return { kind: 'not', piece: compiled(filter.filter, scope) };
    case 'pr':
      return { kind: 'present', path: attributeOf(filter.attrPath, scope.names).path };
    case '[]':
      throw scimRefusal(
        'invalidFilter',
        `Filters in brackets are not supported. Compare a sub-attribute of ${filter.attrPath} instead.`,
      );
    default:
      return comparison(filter, scope);
  }
}

type Comparison = Extract<Filter, { compValue: unknown }>;

function comparison<Path extends string>({ op, attrPath, compValue }: Comparison, scope: Scope<Path>): Predicate<Path> {
  const attribute = attributeOf(attrPath, scope.names);
  const { path } = attribute;
  const value = scope.values[Number(compValue)];
  const operator = stringOperators[op];
  if (value === undefined || operator === undefined)
    throw scimRefusal('invalidFilter', `The operator ${op} is not supported. Use eq, ne, co, sw, ew or pr.`);
  const isNegated = operator === 'ne';
  if (value === null || attribute.type === 'boolean') {
    if (operator !== 'eq' && !isNegated)
      throw scimRefusal('invalidFilter', `${attrPath} accepts only eq and ne with this value.`);
    const piece: Predicate<Path> =
      value === null ? absent(path) : { kind: 'boolean', path, value: truth(attrPath, value) };
    return isNegated ? { kind: 'not', piece } : piece;
  }
  const folded = !attribute.caseExact;
  return { kind: 'string', path, operator, value: folded ? value.toLowerCase() : value, sent: value, folded };
}

/** A comparison with null tests whether a value exists (RFC 7643 §2.5). */
function absent<Path extends string>(path: Path): Predicate<Path> {
  return { kind: 'not', piece: { kind: 'present', path } };
}

function truth(name: string, value: string): boolean {
  const word = value.toLowerCase();
  if (word !== 'true' && word !== 'false') throw scimRefusal('invalidFilter', `Compare ${name} with true or false.`);
  return word === 'true';
}

function attributeOf<Path extends string>(name: string, { attributes, schemas }: Names<Path>): FilterAttribute<Path> {
  const wanted = withoutSchema(name, schemas).rest.toLowerCase();
  const found = attributes.find(({ path, aliases = [] }) =>
    [path, ...aliases].some((candidate) => candidate.toLowerCase() === wanted),
  );
  if (found !== undefined) return found;
  const existing = attributes.map(({ path }) => path).join(', ');
  throw scimRefusal('invalidFilter', `A filter cannot name ${name}. It can name ${existing}.`);
}
