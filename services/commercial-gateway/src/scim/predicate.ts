/** An attribute that a filter may name. */
export type FilterAttribute<Path extends string = string> = {
  readonly path: Path;
  readonly type: 'string' | 'boolean';
  readonly caseExact: boolean;
  /** Other names of it, such as the plural attribute that it is the value of. */
  readonly aliases?: readonly string[];
};

export type StringOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew';

/**
 * A filter as data. The store turns it into SQL. `folded`: `value` is in lower case, and is compared with the value of the attribute in lower
 * case. `ne` holds where `eq` does not, so it holds for an attribute without a value.
 */
export type Predicate<Path extends string = string> =
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Predicate<Path>[] }
  | { readonly kind: 'not'; readonly part: Predicate<Path> }
  | { readonly kind: 'present'; readonly path: Path }
  | {
      readonly kind: 'string';
      readonly path: Path;
      readonly operator: StringOperator;
      readonly value: string;
      /** The value in the case in which it was sent. */
      readonly sent: string;
      readonly folded: boolean;
    }
  | { readonly kind: 'boolean'; readonly path: Path; readonly value: boolean };

type Values<Path extends string> = (path: Path) => readonly (string | boolean)[];

/** Whether a resource with these values matches. One of several values is enough. */
export function matches<Path extends string>(predicate: Predicate<Path>, valuesOf: Values<Path>): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.parts.every((part) => matches(part, valuesOf));
    case 'or':
      return predicate.parts.some((part) => matches(part, valuesOf));
    case 'not':
      return !matches(predicate.part, valuesOf);
    case 'present':
      return valuesOf(predicate.path).some((value) => value !== '');
    case 'boolean':
      return valuesOf(predicate.path).includes(predicate.value);
    case 'string': {
      const { operator, value: wanted, folded } = predicate;
      const isMatch = (value: string | boolean) =>
        typeof value === 'string' && compare(folded ? value.toLowerCase() : value, operator, wanted);
      const found = valuesOf(predicate.path).some(isMatch);
      return operator === 'ne' ? !found : found;
    }
  }
}

/** The number of comparisons in a predicate. */
export function termsOf(predicate: Predicate): number {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return predicate.parts.reduce((sum, part) => sum + termsOf(part), 0);
    case 'not':
      return termsOf(predicate.part);
    default:
      return 1;
  }
}

/** `ne` is the negation of this: see above. */
function compare(value: string, operator: StringOperator, wanted: string): boolean {
  switch (operator) {
    case 'eq':
    case 'ne':
      return value === wanted;
    case 'co':
      return value.includes(wanted);
    case 'sw':
      return value.startsWith(wanted);
    case 'ew':
      return value.endsWith(wanted);
  }
}
