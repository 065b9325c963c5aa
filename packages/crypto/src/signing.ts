import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { decodeBase64Url } from './base64.ts';
import { CryptoError } from './crypto-error.ts';
import { keyIdOf as keyIdWith } from './key-id.ts';
import { nodeProvider } from './node.ts';
import { nativeSign } from './native-signing.ts';
import type { Signer } from './signer.ts';

export { signatureLibrary } from './native-signing.ts';
export type { Signer } from './signer.ts';

const seedBytes = 32;
/** RFC 8410 §7: the bytes of an Ed25519 PKCS#8 document before the seed. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Creates a signer from an Ed25519 private key: PKCS#8 PEM, or the 32-byte seed of RFC 8032 §5.1.5. The key is imported
 * once. Signing is synchronous and deterministic. Throws `MALFORMED_KEY`; the message never contains key material.
 * `native` returns the function that signs. If it returns `null`, OpenSSL signs.
 */
export function createSigner(privateKey: string | Uint8Array, native = nativeSign): Signer {
  const key = typeof privateKey === 'string' ? importPem(privateKey) : importSeed(privateKey);
  const publicKey = publicKeyOf(key);
  return { keyId: keyIdOf(publicKey), publicKey, sign: native(seedOf(key)) ?? opensslSign(key) };
}

function opensslSign(key: KeyObject): Signer['sign'] {
  return (bytes) => plainBytes(sign(null, bytes, key));
}

function seedOf(key: KeyObject): Uint8Array {
  const { d } = key.export({ format: 'jwk' });
  if (d === undefined) throw new CryptoError('MALFORMED_KEY', 'key has no private part');
  return decodeBase64Url(d);
}

// Not a Buffer: its slice() would share memory.
function plainBytes({ buffer, byteOffset, byteLength }: Buffer): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** A new key pair from the random source of the platform. `privateKeyPem` is a secret. */
export function generateSigningKey(): { privateKeyPem: string; publicKey: Uint8Array; keyId: string } {
  const { privateKey } = generateKeyPairSync('ed25519');
  const publicKey = publicKeyOf(privateKey);
  return {
    privateKeyPem: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
    publicKey,
    keyId: keyIdOf(publicKey),
  };
}

function importPem(pem: string): KeyObject {
  const key = importPrivateKey({ key: pem, format: 'pem' });
  if (key.asymmetricKeyType !== 'ed25519') throw new CryptoError('MALFORMED_KEY', 'private key is not Ed25519');
  return key;
}

function importSeed(seed: Uint8Array): KeyObject {
  if (seed.length !== seedBytes) throw new CryptoError('MALFORMED_KEY', `the seed does not have ${seedBytes} bytes`);
  return importPrivateKey({ key: Buffer.concat([pkcs8Prefix, seed]), format: 'der', type: 'pkcs8' });
}

function importPrivateKey(source: Parameters<typeof createPrivateKey>[0]): KeyObject {
  try {
    return createPrivateKey(source);
  } catch {
    throw new CryptoError('MALFORMED_KEY', 'private key cannot be read');
  }
}

function publicKeyOf(key: KeyObject): Uint8Array {
  const { x } = createPublicKey(key).export({ format: 'jwk' });
  if (x === undefined) throw new CryptoError('MALFORMED_KEY', 'key has no public part');
  return decodeBase64Url(x);
}

function keyIdOf(publicKey: Uint8Array): string {
  return keyIdWith(nodeProvider, publicKey);
}
