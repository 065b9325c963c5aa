import type { KeyPurpose } from '@countersign/contracts/governance-kernel';
import type { Signer } from '@countersign/crypto';
import { createSigner, generateSigningKey } from '@countersign/crypto/signing';
import { ConfigError } from '@countersign/service-kit';
import { createEvidenceSigner } from './evidence-key.ts';
import type { EvidenceSigner } from './evidence-signer.ts';
import type { KernelConfig } from './kernel-config.ts';

export { signatureLibrary } from '@countersign/crypto/signing';

export type Signers = Readonly<Record<KeyPurpose, Signer>>;

type Keys = Pick<KernelConfig, 'signingKeyPem' | 'policyKeyPem' | 'logKeyPem' | 'assertionKeys'>;

/**
 * The three keys of a kernel. A stolen receipt key alone can forge neither the state of the log nor the active policy.
 * Throws ConfigError when one key has two purposes.
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
      'a gateway must not sign assertions with a signing key of the kernel. Give it a key of its own',
    ]);
  return signers;
}

/** A signer with a new key, for temporary entries that no published key may verify. */
export const throwawaySigner = () => createSigner(generateSigningKey().privateKeyPem);

/** New private keys for the three purposes, as PKCS#8 PEM. */
export function generateKeys(): Pick<Keys, 'signingKeyPem' | 'policyKeyPem' | 'logKeyPem'> {
  const pem = () => generateSigningKey().privateKeyPem;
  return { signingKeyPem: pem(), policyKeyPem: pem(), logKeyPem: pem() };
}

/** The keys of envelopes. `null` when none is configured. */
export function evidenceSignerOf({ evidenceKeyPem: pem }: Pick<KernelConfig, 'evidenceKeyPem'>): EvidenceSigner | null {
  return pem === null ? null : createEvidenceSigner(pem);
}
