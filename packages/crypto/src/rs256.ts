import { concatBytes } from './bytes.ts';
import { decodeHex } from './hex.ts';
import { numberOf } from './webauthn-key.ts';

/** The DER bytes of DigestInfo before the SHA-256 digest (RFC 8017 §9.2, note 1). */
const digestInfo = decodeHex('3031300d060960864801650304020105000420');

type RsaClaim = { modulus: bigint; modulusBytes: number; exponent: bigint; digest: Uint8Array; signature: Uint8Array };

/**
 * RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 §8.2.2). It compares whole encoded messages, so no code parses the padding.
 */
export function verifyRs256({ modulus, modulusBytes, exponent, digest, signature }: RsaClaim): boolean {
  const number = numberOf(signature);
  if (signature.length !== modulusBytes || number >= modulus) return false;
  const encoded = numberOf(encodedMessage(digest, modulusBytes));
  return power(number, exponent, modulus) === encoded;
}

function encodedMessage(digest: Uint8Array, length: number): Uint8Array {
  const filled = new Uint8Array(length - digestInfo.length - digest.length).fill(0xff);
  filled.set([0x00, 0x01]);
  filled.set([0x00], filled.length - 1);
  return concatBytes(filled, digestInfo, digest);
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let result = 1n;
  let square = base;
  for (let rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus;
    square = (square * square) % modulus;
  }
  return result;
}
