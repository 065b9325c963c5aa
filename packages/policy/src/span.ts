import { Environment } from '@marcbachmann/cel-js';
import { paidRangeError } from './held-work.ts';

/** The maximum length of a duration. The longest useful duration has eight parts. */
const lengthMax = 64;
const pattern = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/;
const read = new Environment().registerVariable('text', 'string').parse('duration(text)');

/**
 * Evaluates `duration` of CEL for a text such as `1h30m`. The library backtracks over the digits, so long and malformed
 * texts are rejected first.
 */
export function spanOf(text: string): unknown {
  if (text.length > lengthMax || !pattern.test(text)) throw paidRangeError('duration() needs a number with a unit');
  return read({ text });
}
