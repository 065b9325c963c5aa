import { RE2JS } from 're2js';
import { hasSmallAutomaton } from './automaton-size.ts';

/** Enough for ordinary patterns. The limit keeps the compiled automaton small. */
const patternLengthMax = 512;
/**
 * The limit of the cache, in instructions of all cached patterns. Bundles and schemas keep their own patterns, so the
 * cache only avoids compiling equal patterns twice. The limit is for a process that sees many patterns. Each
 * instruction takes up to a kilobyte with its share of the automaton.
 */
const keptMax = 200_000;
/** The number that a pattern counts in addition to its instructions, where the total of all patterns is limited. */
export const patternWeight = 10;

/**
 * The limit of a pattern's length times the sum of its repetition counts. A repeated part is compiled once for each
 * repetition. Larger patterns would block other work for too long.
 */
const repeatedMax = 20_000;

/** Units of work per character, measured with the texts that are slowest for the engine. */
const characterCosts = { ofSmallAutomaton: 0.04, ofInstruction: 0.1 };

export type LinearRegExp = {
  test: (text: string) => boolean;
  /** In units of work. */
  costPerCharacter: number;
  /** The number of instructions. */
  size: number;
  /** Identifies the pattern. Ajv caches compiled patterns by this text. */
  toString: () => string;
};

/**
 * A regular expression that takes linear time for every text, as RE2 guarantees. Throws for back references and
 * look-around, which no linear engine has. Throws also for malformed patterns, for patterns over 512 characters, and
 * for too many repetitions.
 */
export const linearRegExp = keptPatterns(keptMax);

/** Compiles patterns and caches them, up to this total number of instructions. A full cache is emptied. */
export function keptPatterns(instructionsMax: number): (pattern: string) => LinearRegExp {
  const compiledPatterns = new Map<string, LinearRegExp>();
  let kept = 0;
  const keep = (pattern: string, compiled: LinearRegExp): void => {
    const weight = compiled.size + patternWeight;
    if (kept + weight > instructionsMax) {
      compiledPatterns.clear();
      kept = 0;
    }
    compiledPatterns.set(pattern, compiled);
    kept += weight;
  };
  return (pattern) => {
    const cached = compiledPatterns.get(pattern);
    if (cached !== undefined) return cached;
    const compiled = compile(pattern);
    keep(pattern, compiled);
    return compiled;
  };
}

function compile(pattern: string): LinearRegExp {
  if (pattern.length > patternLengthMax) throw new RangeError(`pattern longer than ${patternLengthMax} characters`);
  if (pattern.length * countsIn(pattern) > repeatedMax)
    throw new RangeError('the pattern has nested or large repetitions');
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  const size = compiled.programSize();
  const entry = { size, toString: () => `re2:${pattern}` };
  if (hasSmallAutomaton(compiled))
    return { ...entry, test: (text) => compiled.test(text), costPerCharacter: characterCosts.ofSmallAutomaton };
  // The cost of matching without the automaton. With it, each new text would rebuild its states, at ten times the cost.
  const costPerCharacter = size * characterCosts.ofInstruction;
  return { ...entry, test: (text) => compiled.matcher(text).find(), costPerCharacter };
}

/** The sum of all repetition counts, nested or not. The engine allows 1,000 in one repetition. */
function countsIn(pattern: string): number {
  return [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (sum, [, least, most]) => sum + Number(most || least),
    0,
  );
}
