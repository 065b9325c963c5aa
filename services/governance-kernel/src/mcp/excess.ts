import { ProtocolError } from '@modelcontextprotocol/client';

/** Stands for an answer that holds too much. A server that sends it itself says the same. */
export const excessCode = -32_099;

/** Where an answer is read: it has more bytes, or is made of more values, than can be read at once. */
export function excessError(most: string): ProtocolError {
  return new ProtocolError(excessCode, `The answer has more than ${most}`);
}

export function isExcess(error: unknown): boolean {
  return error instanceof ProtocolError && error.code === excessCode;
}
