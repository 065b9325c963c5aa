import { decodeBase64, encodeBase64 } from './base64.ts';
import { CryptoError } from './crypto-error.ts';
import { hashBytes } from './merkle-tree.ts';

const firstLine = 'c2sp.org/tlog-proof@v1';
/** The length of a path in a tree of 2^63 leaves, the largest possible log. */
const proofHashesMax = 63;

/** Everything that an offline verifier needs to check one entry against one checkpoint (c2sp.org/tlog-proof). */
interface TlogProof {
  index: number;
  /** Inclusion proof, beginning with the sibling of the leaf. */
  proof: readonly Uint8Array[];
  /** The signed checkpoint, unchanged. Open it with {@link openNote}. */
  checkpoint: string;
  /** Opaque data that no signature covers. */
  extra?: Uint8Array;
}

/** Throws `MALFORMED_TLOG_PROOF` if {@link parseTlogProof} would refuse the result. */
export function formatTlogProof({ index, proof, checkpoint, extra }: TlogProof): string {
  const extraLines = extra === undefined ? [] : [`extra ${encodeBase64(extra)}`];
  const text = [firstLine, ...extraLines, `index ${index}`, ...proof.map(encodeBase64), '', checkpoint].join('\n');
  parseTlogProof(text);
  return text;
}

/** Reads attacker-controlled text. Nothing is verified yet. Throws `MALFORMED_TLOG_PROOF`. */
export function parseTlogProof(text: string): TlogProof {
  const separator = text.indexOf('\n\n');
  if (separator === -1) throw malformed('no checkpoint');
  const [first, ...lines] = text.slice(0, separator).split('\n');
  if (first !== firstLine) throw malformed(`first line is not ${firstLine}`);
  const extraLine = lines[0]?.startsWith('extra ') === true ? lines.shift() : undefined;
  const index = parseIndex(lines.shift() ?? '');
  if (lines.length > proofHashesMax) throw malformed(`more than ${proofHashesMax} hashes`);
  const checkpoint = text.slice(separator + 2);
  if (checkpoint === '') throw malformed('no checkpoint');
  const parsed = { index, proof: lines.map(parseHash), checkpoint };
  return extraLine === undefined ? parsed : { ...parsed, extra: decode(extraLine.slice('extra '.length)) };
}

function parseIndex(line: string): number {
  const [, digits] = /^index (0|[1-9][0-9]*)$/.exec(line) ?? [];
  const index = Number(digits);
  if (!Number.isSafeInteger(index)) throw malformed('the index is not a decimal number up to 2^53 - 1');
  return index;
}

function parseHash(line: string): Uint8Array {
  const hash = decode(line);
  if (hash.length !== hashBytes) throw malformed('a hash does not have 32 bytes');
  return hash;
}

function decode(text: string): Uint8Array {
  try {
    return decodeBase64(text);
  } catch {
    throw malformed('not base64');
  }
}

function malformed(message: string): CryptoError {
  return new CryptoError('MALFORMED_TLOG_PROOF', message);
}
