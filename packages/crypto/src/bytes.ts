import { CryptoError } from './crypto-error.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function concatBytes(...pieces: Uint8Array[]): Uint8Array {
  const joined = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let offset = 0;
  for (const piece of pieces) {
    joined.set(piece, offset);
    offset += piece.length;
  }
  return joined;
}

/** For public values: digests, roots, keys. It stops at the first difference, so it must not compare secrets. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at += 1) if (left[at] !== right[at]) return false;
  return true;
}

export function utf8Bytes(text: string): Uint8Array {
  return encoder.encode(text);
}

/** Keeps a byte order mark, so that decoding and encoding again gives the same bytes. Throws `INVALID_UTF8`. */
export function utf8Text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new CryptoError('INVALID_UTF8', 'bytes are not UTF-8');
  }
}
