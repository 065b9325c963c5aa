import { RE2JS } from 're2js';

/** Enough for any honest pattern; keeps the compiled automaton small. */
const patternLengthMax = 512;

/** `toString` tells patterns apart: Ajv keeps compiled patterns by that name. */
export type LinearRegExp = { test: (text: string) => boolean; toString: () => string };

/**
 * A regular expression with RE2's guarantee: time linear in the text, whatever the text. Throws for back references and
 * look-around, which no linear engine has, and for patterns over 512 characters.
 */
export function compileLinearRegExp(pattern: string): LinearRegExp {
  if (pattern.length > patternLengthMax) throw new RangeError(`pattern longer than ${patternLengthMax} characters`);
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  return { test: (text) => compiled.test(text), toString: () => `re2:${pattern}` };
}
