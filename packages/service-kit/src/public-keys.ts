import { decodeBase64Url, isAcceptablePublicKey, keyIdOf } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';

/** A key of another party that an operator has pinned. */
export type PublicKey = { readonly keyId: string; readonly publicKey: Uint8Array };

/** Ed25519 public keys, 32 bytes in base64url each. Throws for a malformed or unsafe key. */
export function readPublicKeys(texts: readonly string[]): PublicKey[] {
  return texts.map((text) => {
    const publicKey = decodeBase64Url(text);
    if (!isAcceptablePublicKey(publicKey)) throw new Error('it contains a value that is not a safe Ed25519 public key');
    return { keyId: keyIdOf(nodeProvider, publicKey), publicKey };
  });
}
