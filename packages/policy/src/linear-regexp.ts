import { RE2JS } from 're2js';
import { hasSmallAutomaton } from './automaton-size.ts';

/** Enough for any honest pattern; keeps the compiled automaton small. */
const patternLengthMax = 512;
/**
 * Patterns are literals of bundles and schemas, which hold theirs for as long as they live themselves: what is kept
 * here is compiled once for all that have it. The cap is for a process that sees many, in instructions of all kept
 * patterns. Each instruction takes up to a kilobyte with its share of the automaton, and a pattern some more.
 */
const keptMax = 200_000;
/** The weight of a pattern beside its instructions. */
export const patternWeight = 10;

/**
 * A repeated part is compiled as often as it is repeated: characters of a pattern times all the counts in it. More
 * takes longer than others can wait.
 */
const repeatedMax = 20_000;

/** In bodies of a loop, for each character: measured with texts that make the engine work hardest. */
const characterCosts = { ofSmallAutomaton: 0.04, ofInstruction: 0.1 };

export type LinearRegExp = {
  test: (text: string) => boolean;
  /** In bodies of a loop. */
  costPerCharacter: number;
  /** Instructions. */
  size: number;
  /** Tells patterns apart: Ajv keeps compiled patterns by that name. */
  toString: () => string;
};

/**
 * A regular expression with RE2's guarantee: time linear in the text, whatever the text. Throws for back references and
 * look-around, which no linear engine has, and for patterns over 512 characters.
 */
export const linearRegExp = keptPatterns(keptMax);

/** Compiles patterns and keeps them, up to so many instructions of all that are kept. */
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
  if (pattern.length * countsIn(pattern) > repeatedMax) throw new RangeError('pattern repeats too much too often');
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  const size = compiled.programSize();
  const entry = { size, toString: () => `re2:${pattern}` };
  if (hasSmallAutomaton(compiled))
    return { ...entry, test: (text) => compiled.test(text), costPerCharacter: characterCosts.ofSmallAutomaton };
  // The cost without the automaton, whose states each new text would build again at ten times the cost.
  const costPerCharacter = size * characterCosts.ofInstruction;
  return { ...entry, test: (text) => compiled.matcher(text).find(), costPerCharacter };
}

/** All the counts of repetitions together, whether or not they stand inside of each other: the engine allows 1,000 in one. */
function countsIn(pattern: string): number {
  return [...pattern.matchAll(/\{(\d+)(?:,(\d*))?\}/g)].reduce(
    (sum, [, least, most]) => sum + Number(most || least),
    0,
  );
}
