import nacl from 'tweetnacl';
import { utf8Bytes } from './bytes.ts';
import { isAcceptableEncoding } from './ed25519.ts';
import { encodeHex } from './hex.ts';
import type { CryptoProvider } from './provider.ts';
import { sha256Portable } from './sha256.ts';

/** Pure JavaScript: runs anywhere, a few hundred verifications per second. It gives the same answers as every other provider. */
export const portableProvider: CryptoProvider = {
  sha256: sha256Portable,
  sha256Hex: (data) => encodeHex(sha256Portable(typeof data === 'string' ? utf8Bytes(data) : data)),
  verifyEd25519: (publicKey, message, signature) =>
    isAcceptableEncoding(publicKey, signature) && nacl.sign.detached.verify(message, signature, publicKey),
};
