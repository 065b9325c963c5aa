/** Takes the place of an answer that holds too much. A server that sends it itself says the same. */
export const excessCode = -32_099;

/** An answer that has more bytes, or is made of more values, than can be read at once. */
export class Excess extends Error {
  constructor(most: string) {
    super(`The answer has more than ${most}`);
  }
}
