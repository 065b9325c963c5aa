import { Environment } from '@marcbachmann/cel-js';
import { paidRangeError } from './held-work.ts';

/** The longest useful one has eight parts. */
const lengthMax = 64;
const pattern = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|ms|s|m|h))+$/;
const read = new Environment().registerVariable('text', 'string').parse('duration(text)');

/** CEL's `duration` of a text, `1h30m`. The library tries each of its digits as a beginning, over and over: here a short one is looked at. */
export function spanOf(text: string): unknown {
  if (text.length > lengthMax || !pattern.test(text)) throw paidRangeError('duration() needs a number with a unit');
  return read({ text });
}
