import { decodeBase64Url, isAcceptablePublicKey, keyIdOf, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { PolicyKey } from './activation.ts';

/** The keys that may activate policies: those configured and the kernel's own, with which it signs what its policy file says. */
export function policyKeys(configured: readonly string[], own: Pick<Signer, 'keyId' | 'publicKey'>): PolicyKey[] {
  const keys = configured.map((text) => {
    const publicKey = decodeBase64Url(text);
    if (!isAcceptablePublicKey(publicKey))
      throw new Error('GOV_POLICY_PUBLIC_KEYS holds something that is no safe Ed25519 public key');
    return { keyId: keyIdOf(nodeProvider, publicKey), publicKey };
  });
  return [...keys, { keyId: own.keyId, publicKey: own.publicKey }];
}
