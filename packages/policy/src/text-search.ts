import { paidRangeError, takeHeldWork } from './held-work.ts';

/**
 * The maximum number of comparisons in one search, about ten milliseconds of the slowest one. A text of a megabyte may
 * be searched for a name, but not for a text of half a megabyte.
 */
const comparisonsMax = 40_000_000;
/** The slowest comparison takes a third of a nanosecond, and a unit of work is an eighth of a microsecond. */
const unitsPerComparison = 0.003;

/**
 * CEL's searches for a text from the call. JavaScript compares again at each position, so two long texts that nearly
 * match would block all work for half a minute. Each search throws over its limit. Otherwise it returns what the
 * library returns.
 */
export const textSearches: Readonly<Record<string, (text: string, sought: string, ...more: bigint[]) => unknown>> = {
  'boundedContains(string): bool': (text, sought) => bounded(text, sought).includes(sought),
  'boundedIndexOf(string): int': (text, sought) => BigInt(bounded(text, sought).indexOf(sought)),
  'boundedIndexOf(string, int): int': (text, sought, from = 0n) =>
    sought === '' ? from : BigInt(bounded(text, sought).indexOf(sought, placeIn(text, from))),
  'boundedLastIndexOf(string): int': (text, sought) => BigInt(bounded(text, sought).lastIndexOf(sought)),
  'boundedLastIndexOf(string, int): int': (text, sought, from = 0n) =>
    sought === '' ? from : BigInt(bounded(text, sought).lastIndexOf(sought, placeIn(text, from))),
  'boundedSplit(string): list<string>': (text, sought) => bounded(text, sought).split(sought),
  // Stryker disable next-line UnaryOperator: The caller always passes a number.
  'boundedSplit(string, int): list<string>': (text, sought, most = -1n) =>
    limited(bounded(text, sought).split(sought), sought, Number(most)),
};

function bounded(text: string, sought: string): string {
  const comparisons = text.length * sought.length;
  if (comparisons > comparisonsMax) throw paidRangeError('both texts are too long to search');
  if (!takeHeldWork(comparisons * unitsPerComparison)) throw paidRangeError('too much is searched');
  return text;
}

function placeIn(text: string, from: bigint): number {
  if (from < 0n || from >= BigInt(text.length)) throw paidRangeError('fromIndex out of range');
  return Number(from);
}

/** Returns at most this number of parts. The last part is the rest. */
function limited(literals: string[], separator: string, most: number): string[] {
  if (most === 0) return [];
  if (most < 0 || literals.length <= most) return literals;
  return [...literals.slice(0, most - 1), literals.slice(most - 1).join(separator)];
}
