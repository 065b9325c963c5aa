import type { Digest, Instant } from '@countersign/contracts';
import { canonicalBytes } from '@countersign/crypto';

/** Who is under which bundle at which epoch, and when its source said so. */
export type Activation = { tenant: string; epoch: number; policyHash: Digest; confirmedAt: Instant };

/** The bytes that a policy key signs, to activate a bundle and each time it confirms that it is still the one. */
export function activationBytes({ tenant, epoch, policyHash, confirmedAt }: Activation): Uint8Array {
  return canonicalBytes({
    type: 'countersign.policy-activation.v2',
    tenant_id: tenant,
    policy_hash: policyHash,
    epoch,
    confirmed_at: confirmedAt,
  });
}
