/**
 * The error code of the message that replaces an answer above the limits. A server may also send this code, with the
 * same meaning.
 */
export const excessCode = -32_099;

/** An answer with more bytes or values than can be read at once. */
export class Excess extends Error {
  constructor(most: string) {
    super(`The answer has more than ${most}`);
  }
}
