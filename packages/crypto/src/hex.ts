import { CryptoError } from './crypto-error.ts';

const hexPairs = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

export function encodeHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexPairs[byte];
  return text;
}

/** Lower case only, so that one value has one spelling. Throws `MALFORMED_ENCODING`. */
export function decodeHex(text: string): Uint8Array {
  if (text.length % 2 !== 0) throw malformed();
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = nibble(text.charCodeAt(at * 2)) * 16 + nibble(text.charCodeAt(at * 2 + 1));
  }
  return bytes;
}

function nibble(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30; // 0 to 9
  if (code >= 0x61 && code <= 0x66) return code - 0x61 + 10; // a to f
  throw malformed();
}

function malformed(): CryptoError {
  return new CryptoError('MALFORMED_ENCODING', 'not lower-case hex');
}
