import { decodeBase64Url, isAcceptablePublicKey, keyIdOf, type Signer } from '@countersign/crypto';
import { nodeProvider } from '@countersign/crypto/node';
import type { PolicyKey } from './activation.ts';

/** The keys that an operator allows to activate policies (GOV_POLICY_PUBLIC_KEYS). Throws for what is no safe Ed25519 key. */
export function readPolicyKeys(texts: readonly string[]): PolicyKey[] {
  return texts.map((text) => {
    const publicKey = decodeBase64Url(text);
    if (!isAcceptablePublicKey(publicKey)) throw new Error('it holds something that is no safe Ed25519 public key');
    return { keyId: keyIdOf(nodeProvider, publicKey), publicKey };
  });
}

/** Those configured and the kernel's own, with which it signs what its policy file says. */
export function policyKeys(configured: readonly PolicyKey[], own: Pick<Signer, 'keyId' | 'publicKey'>): PolicyKey[] {
  return [...configured, { keyId: own.keyId, publicKey: own.publicKey }];
}
