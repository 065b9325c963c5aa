import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import type { Signer } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { ConfigError } from '@countersign/service-kit';
import { createEvidenceSigner } from './evidence-key.ts';
import type { EvidenceSigner } from './envelopes/evidence-signer.ts';
import type { KernelConfig } from './kernel-config.ts';

export { signatureLibrary } from '@countersign/crypto/signing';

export type Signers = Readonly<Record<KeyPurpose, Signer>>;

type Keys = Pick<KernelConfig, 'signingKeyPem' | 'policyKeyPem' | 'logKeyPem' | 'assertionKeys'>;

/**
 * The three keys of a kernel. Who takes the key of the receipts can still not say what the log had seen, nor what policy holds. Throws
 * ConfigError when one key has two purposes.
 */
export function createSigners(config: Keys): Signers {
  const signers = {
    receipts: createSigner(config.signingKeyPem),
    policies: createSigner(config.policyKeyPem),
    log: createSigner(config.logKeyPem),
  };
  const ids = new Set(Object.values(signers).map(({ keyId }) => keyId));
  if (ids.size < 3) throw new ConfigError(['receipts, policies and the log must have three different signing keys']);
  if (config.assertionKeys.some(({ keyId }) => ids.has(keyId)))
    throw new ConfigError([
      'a gateway asserts with a key of its own, and never with one that the kernel itself signs with',
    ]);
  return signers;
}

/** A signature in a memory that is thrown away must verify nowhere. */
export const throwawaySigner = () => createSigner(generateSigningKey().privateKeyPem);

/** The keys of envelopes. `null` when none is configured. */
export function evidenceSignerOf({ evidenceKeyPem: pem }: Pick<KernelConfig, 'evidenceKeyPem'>): EvidenceSigner | null {
  return pem === null ? null : createEvidenceSigner(pem);
}
