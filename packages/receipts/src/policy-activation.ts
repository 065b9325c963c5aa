import type { Digest, Instant } from '@countersign/contracts';
import { canonicalBytes } from '@countersign/crypto';

/** The policy of a tenant at an epoch, and the time at which its source confirmed it. */
export type Activation = { tenant: string; epoch: number; policyHash: Digest; confirmedAt: Instant };

/**
 * The bytes that a policy key signs when it activates a bundle. It signs them again each time it confirms that the
 * bundle is still active.
 */
export function activationBytes({ tenant, epoch, policyHash, confirmedAt }: Activation): Uint8Array {
  return canonicalBytes({
    type: 'countersign.policy-activation.v2',
    tenant_id: tenant,
    policy_hash: policyHash,
    epoch,
    confirmed_at: confirmedAt,
  });
}
