import { RE2JS } from 're2js';
import { hasSmallAutomaton } from './automaton-size.ts';

/** Enough for any honest pattern; keeps the compiled automaton small. */
const patternLengthMax = 512;
/** Patterns are literals of bundles and schemas, so there are as few as those; the cap is for a process that sees many. */
const patternsMax = 10_000;

/** In bodies of a loop, for each character: measured with texts that make the engine work hardest. */
const characterCosts = { ofSmallAutomaton: 0.04, ofInstruction: 0.1 };

export type LinearRegExp = {
  test: (text: string) => boolean;
  /** In bodies of a loop. */
  costPerCharacter: number;
  /** Tells patterns apart: Ajv keeps compiled patterns by that name. */
  toString: () => string;
};

const compiledPatterns = new Map<string, LinearRegExp>();

/**
 * A regular expression with RE2's guarantee: time linear in the text, whatever the text. Throws for back references and
 * look-around, which no linear engine has, and for patterns over 512 characters.
 */
export function linearRegExp(pattern: string): LinearRegExp {
  const known = compiledPatterns.get(pattern);
  if (known !== undefined) return known;
  if (compiledPatterns.size >= patternsMax) compiledPatterns.clear();
  const compiled = compile(pattern);
  compiledPatterns.set(pattern, compiled);
  return compiled;
}

function compile(pattern: string): LinearRegExp {
  if (pattern.length > patternLengthMax) throw new RangeError(`pattern longer than ${patternLengthMax} characters`);
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  const toString = () => `re2:${pattern}`;
  if (hasSmallAutomaton(compiled))
    return { test: (text) => compiled.test(text), costPerCharacter: characterCosts.ofSmallAutomaton, toString };
  // Without the automaton, whose states each new text would make anew at ten times the cost.
  const costPerCharacter = compiled.programSize() * characterCosts.ofInstruction;
  return { test: (text) => compiled.matcher(text).find(), costPerCharacter, toString };
}
