import type { Signer } from '@countersign/crypto';
import type { PolicyKey } from './activation.ts';

/** Those configured and the kernel's own, with which it signs what its policy file says. */
export function policyKeys(configured: readonly PolicyKey[], own: Pick<Signer, 'keyId' | 'publicKey'>): PolicyKey[] {
  return [...configured, { keyId: own.keyId, publicKey: own.publicKey }];
}
