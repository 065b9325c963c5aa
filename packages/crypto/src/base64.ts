import { CryptoError } from './crypto-error.ts';

/** RFC 4648 §4, padded. */
export function encodeBase64(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

/** RFC 4648 §5 without padding, as in JOSE. */
export function encodeBase64Url(bytes: Uint8Array): string {
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

/**
 * Accepts only the output of {@link encodeBase64}: no white space, padding required, unused bits zero. Throws
 * `MALFORMED_ENCODING`.
 */
export function decodeBase64(text: string): Uint8Array {
  const bytes = text.length % 4 === 0 ? bytesOf(text.replace(/={1,2}$/, ''), standardDigits) : null;
  if (bytes === null) throw new CryptoError('MALFORMED_ENCODING', 'not canonical base64');
  return bytes;
}

/** Accepts only the output of {@link encodeBase64Url}. Throws `MALFORMED_ENCODING`. */
export function decodeBase64Url(text: string): Uint8Array {
  const bytes = bytesOf(text, urlDigits);
  if (bytes === null) throw new CryptoError('MALFORMED_ENCODING', 'not canonical base64url');
  return bytes;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const noDigit = -1;
const standardDigits = digitsOf(`${letters}+/`);
const urlDigits = digitsOf(`${letters}-_`);

/** The value of each digit by its code. */
function digitsOf(alphabet: string): Int8Array {
  const values = new Int8Array(128).fill(noDigit);
  for (const [value, digit] of [...alphabet].entries()) values[digit.charCodeAt(0)] = value;
  return values;
}

/** The bytes of unpadded digits. `null` for an unknown digit, an impossible length, or unused bits that are not zero. */
function bytesOf(text: string, digits: Int8Array): Uint8Array | null {
  if (text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [pending, bits, length] = [0, 0, 0];
  for (let at = 0; at < text.length; at += 1) {
    const value = digits[text.charCodeAt(at)] ?? noDigit;
    if (value === noDigit) return null;
    pending = (pending << 6) | value;
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes[length] = pending >> bits;
    length += 1;
    pending &= (1 << bits) - 1;
  }
  return pending === 0 ? bytes : null;
}
