import { decodeBase64Url } from './base64.ts';
import { encodeHex } from './hex.ts';

/** The public key of a passkey as a JWK (RFC 7517), of the three kinds that authenticators have. */
export type WebAuthnKey =
  | { readonly kty: 'EC'; readonly crv: 'P-256'; readonly x: string; readonly y: string }
  | { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  | { readonly kty: 'RSA'; readonly n: string; readonly e: string };

type WebAuthnKeyValue =
  | { readonly kty: 'EC'; readonly x: bigint; readonly y: bigint }
  | { readonly kty: 'OKP'; readonly publicKey: Uint8Array }
  | { readonly kty: 'RSA'; readonly modulus: bigint; readonly modulusBytes: number; readonly exponent: bigint };

const coordinateBytes = 32;
/** RFC 7518 §3.3 requires 2,048 bits. The upper limit bounds the time of one verification. */
const modulusBytes = { min: 256, max: 1_024 };
const exponentBytesMax = 4;

/**
 * Reads a key in the only spelling that RFC 7518 §6 allows. Returns `null` for other spellings, because platforms
 * differ in which of them they accept. Returns `null` also for RSA keys outside the limits. It does not check that a
 * point is on its curve.
 */
export function parseWebAuthnKey(key: WebAuthnKey): WebAuthnKeyValue | null {
  switch (key.kty) {
    case 'EC': {
      const [x, y] = [bytesOf(key.x), bytesOf(key.y)];
      if (x?.length !== coordinateBytes || y?.length !== coordinateBytes) return null;
      return { kty: 'EC', x: numberOf(x), y: numberOf(y) };
    }
    case 'OKP': {
      const publicKey = bytesOf(key.x);
      return publicKey === null ? null : { kty: 'OKP', publicKey };
    }
    case 'RSA':
      return rsaKeyOf(bytesOf(key.n), bytesOf(key.e));
    default:
      return key satisfies never;
  }
}

export function numberOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${encodeHex(bytes)}`);
}

function rsaKeyOf(n: Uint8Array | null, e: Uint8Array | null): WebAuthnKeyValue | null {
  if (n === null || e === null || n[0] === 0 || e[0] === 0) return null; // a leading zero would be a second spelling
  if (n.length < modulusBytes.min || n.length > modulusBytes.max || e.length > exponentBytesMax) return null;
  const [modulus, exponent] = [numberOf(n), numberOf(e)];
  if (modulus % 2n === 0n || exponent % 2n === 0n || exponent < 3n) return null; // such keys cannot exist
  return { kty: 'RSA', modulus, modulusBytes: n.length, exponent };
}

function bytesOf(text: string): Uint8Array | null {
  try {
    return decodeBase64Url(text);
  } catch {
    return null;
  }
}
