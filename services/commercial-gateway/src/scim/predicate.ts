/** An attribute that a filter may name. */
export type FilterAttribute<Path extends string = string> = {
  readonly path: Path;
  readonly type: 'string' | 'boolean';
  readonly caseExact: boolean;
  /** Other names of the attribute, such as the multi-valued attribute whose `value` it is. */
  readonly aliases?: readonly string[];
};

export type StringOperator = 'eq' | 'ne' | 'co' | 'sw' | 'ew';

/**
 * A filter as data, which the store turns into SQL. `folded` means a comparison in lower case; `value` is already in
 * lower case. `ne` is the negation of `eq`, so it matches an attribute without a value.
 */
export type Predicate<Path extends string = string> =
  | { readonly kind: 'and' | 'or'; readonly operands: readonly Predicate<Path>[] }
  | { readonly kind: 'not'; readonly piece: Predicate<Path> }
  | { readonly kind: 'present'; readonly path: Path }
  | {
      readonly kind: 'string';
      readonly path: Path;
      readonly operator: StringOperator;
      readonly value: string;
      /** The value as it was sent. */
      readonly sent: string;
      readonly folded: boolean;
    }
  | { readonly kind: 'boolean'; readonly path: Path; readonly value: boolean };

type Values<Path extends string> = (path: Path) => readonly (string | boolean)[];

/** Returns whether a resource with these values matches. One matching value of an attribute is enough. */
export function matches<Path extends string>(predicate: Predicate<Path>, valuesOf: Values<Path>): boolean {
  switch (predicate.kind) {
    case 'and':
      return predicate.operands.every((piece) => matches(piece, valuesOf));
    case 'or':
      return predicate.operands.some((piece) => matches(piece, valuesOf));
    case 'not':
      return !matches(predicate.piece, valuesOf);
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

/** Returns the number of comparisons in a predicate. */
export function termsOf(predicate: Predicate): number {
  switch (predicate.kind) {
    case 'and':
    case 'or':
      return predicate.operands.reduce((sum, piece) => sum + termsOf(piece), 0);
    case 'not':
      return termsOf(predicate.piece);
    default:
      return 1;
  }
}

/** Compares with `eq` for `ne` too. The caller negates the result. */
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
