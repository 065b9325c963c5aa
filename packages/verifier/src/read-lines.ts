import { bundleValuesMax } from '@countersign/contracts/governance-kernel';
import { jsonDepthMax } from '@countersign/crypto';

const lineFeedCode = 0x0a;

/** The maximum size of a line. A record contains what a policy read of one call, and kernels seal no larger record. */
export const lineBytesMax = 8 * 1024 * 1024;

/**
 * Twice the values of the largest body whose content is sealed as a whole: the ceilings of a tenant. Hashing visits
 * each value, and a schema keeps an issue for each wrong value.
 */
const lineValuesMax = 2 * bundleValuesMax;

export const lineLimits = { bytesMax: lineBytesMax, depthMax: jsonDepthMax, valuesMax: lineValuesMax };

/** Thrown when a line is longer than its reader accepts. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong';
}

/**
 * Lines without their line feeds, one in memory at a time. Text after the last line feed is a line too, unless it is
 * empty. `cut` is called after such a line.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  bytesMax: number,
  cut: () => void = () => undefined,
): AsyncGenerator<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(lineFeedCode); end !== -1; end = chunk.indexOf(lineFeedCode, start)) {
      yield joined([...pieces, chunk.subarray(start, end)]);
      [pieces, length, start] = [[], 0, end + 1];
    }
    pieces.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > bytesMax) throw new LineTooLong(`a line has more than ${bytesMax} bytes`);
  }
  if (length === 0) return;
  yield joined(pieces);
  cut();
}

function joined(pieces: Uint8Array[]): Uint8Array {
  const [only] = pieces;
  if (only !== undefined && pieces.length === 1) return only;
  const bytes = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}
