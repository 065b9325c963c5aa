import type { Signer } from '@countersign/crypto';
import type { PolicyKey } from './activation.ts';

/** The configured keys, and the kernel's own key, which signs the policies that the kernel activates itself. */
export function policyKeys(configured: readonly PolicyKey[], own: Pick<Signer, 'keyId' | 'publicKey'>): PolicyKey[] {
  return [...configured, { keyId: own.keyId, publicKey: own.publicKey }];
}
