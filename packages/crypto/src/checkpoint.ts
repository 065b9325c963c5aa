import { decodeBase64, encodeBase64 } from './base64.ts';
import { CryptoError } from './crypto-error.ts';
import { hashBytes } from './merkle-tree.ts';

/** c2sp.org/tlog-checkpoint: the head of one log at one size. */
export interface Checkpoint {
  origin: string;
  size: number;
  root: Uint8Array;
  /** When it was signed, as the signer says: an RFC 3339 instant on an extension line of ours. Absent on notes of other logs. */
  time?: string;
}

const timeLine = /^countersign\.time (\S+)$/;

/** The note text to sign. Throws `MALFORMED_CHECKPOINT`. */
export function formatCheckpoint({ origin, size, root, time }: Checkpoint): string {
  const timeLine = time === undefined ? '' : `countersign.time ${time}\n`;
  const text = `${origin}\n${size}\n${encodeBase64(root)}\n${timeLine}`;
  parseCheckpoint(text); // what is signed here must be readable elsewhere
  return text;
}

/**
 * Reads the text of an opened note; extension lines but that of the time are allowed and ignored, as the standard demands. Throws
 * `MALFORMED_CHECKPOINT`, also for two times.
 */
export function parseCheckpoint(text: string): Checkpoint {
  // Stryker disable next-line StringLiteral: A text without these lines lacks the last empty line too, and is refused for that.
  const [origin = '', size = '', root = '', ...rest] = text.split('\n');
  if (rest.pop() !== '' || rest.includes('')) throw malformed('lines are missing or empty');
  if (origin === '') throw malformed('origin is empty');
  const [time, ...more] = rest.flatMap((line) => timeLine.exec(line)?.[1] ?? []);
  if (more.length > 0) throw malformed('two lines say the time');
  const checkpoint = { origin, size: parseTreeSize(size), root: parseRoot(root) };
  return time === undefined ? checkpoint : { ...checkpoint, time };
}

function parseTreeSize(text: string): number {
  const size = Number(text);
  if (!/^(0|[1-9][0-9]*)$/.test(text) || !Number.isSafeInteger(size))
    throw malformed('tree size is no decimal up to 2^53 - 1');
  return size;
}

function parseRoot(text: string): Uint8Array {
  const root = decodeRoot(text);
  if (root.length !== hashBytes) throw malformed('root has not 32 bytes');
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
