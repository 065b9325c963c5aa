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
  const bytes = decodeLenient(text);
  // `atob` accepts white space, missing padding and nonzero unused bits. Each value must have one spelling only.
  if (bytes === null || encodeBase64(bytes) !== text)
    throw new CryptoError('MALFORMED_ENCODING', 'not canonical base64');
  return bytes;
}

/** Accepts only the output of {@link encodeBase64Url}. Throws `MALFORMED_ENCODING`. */
export function decodeBase64Url(text: string): Uint8Array {
  const bytes = decodeLenient(text.replaceAll('-', '+').replaceAll('_', '/'));
  if (bytes === null || encodeBase64Url(bytes) !== text)
    throw new CryptoError('MALFORMED_ENCODING', 'not canonical base64url');
  return bytes;
}

function decodeLenient(text: string): Uint8Array | null {
  try {
    const binary = atob(text);
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return null;
  }
}
