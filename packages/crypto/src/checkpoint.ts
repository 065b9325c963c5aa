import { decodeBase64, encodeBase64 } from './base64.ts';
import { CryptoError } from './crypto-error.ts';
import { hashBytes } from './merkle-tree.ts';

/** The head of a log at one size (c2sp.org/tlog-checkpoint). */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
  /**
   * Time of the signature as stated by the signer: an RFC 3339 instant on an extension line that we define. Absent on
   * notes of other logs.
   */
  time?: string;
}

const timeLine = /^countersign\.time (\S+)$/;

/** The note text to sign. Throws `MALFORMED_CHECKPOINT`. */
export function formatCheckpoint({ origin, size, root, time }: Checkpoint): string {
  const timeLine = time === undefined ? '' : `countersign.time ${time}\n`;
  const text = `${origin}\n${size}\n${encodeBase64(root)}\n${timeLine}`;
  parseCheckpoint(text); // rejects a text that other readers could not parse
  return text;
}

/**
 * Reads the text of an opened note. Extension lines other than the time are ignored, as the standard requires. Throws
 * `MALFORMED_CHECKPOINT`, also when two lines state a time.
 */
export function parseCheckpoint(text: string): Checkpoint {
  // Stryker disable next-line StringLiteral: A text without these lines has no empty line at its end and is refused.
  const [origin = '', size = '', root = '', ...rest] = text.split('\n');
  if (rest.pop() !== '' || rest.includes(''))
    throw malformed('lines are missing or empty, or the last one has no newline');
  if (origin === '') throw malformed('origin is empty');
  const [time, ...more] = rest.flatMap((line) => timeLine.exec(line)?.[1] ?? []);
  if (more.length > 0) throw malformed('two lines state the time');
  const checkpoint = { origin, size: parseTreeSize(size), root: parseRoot(root) };
  return time === undefined ? checkpoint : { ...checkpoint, time };
}

function parseTreeSize(text: string): number {
  const size = Number(text);
  if (!/^(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(size))
    throw malformed('the tree size is not a decimal number up to 2^53 - 1');
  return size;
}

function parseRoot(text: string): Uint8Array {
  const root = decodeRoot(text);
  if (root.length !== hashBytes) throw malformed('the root does not have 32 bytes');
  return root;
}

function decodeRoot(text: string): Uint8Array {
  try {
    return decodeBase64(text);
  } catch {
    throw malformed('root is not base64');
  }
}

function malformed(message: string): CryptoError {
  return new CryptoError('MALFORMED_CHECKPOINT', message);
}
