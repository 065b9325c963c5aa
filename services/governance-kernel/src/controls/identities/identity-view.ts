import { instantOrNull, instantOf } from '@countersign/contracts';
import type { Identity } from '@countersign/contracts/governance-kernel';
import type { IdentityKeyRow } from './identity-keys.ts';
import type { IdentityRow } from './identities.ts';

/** An identity as operators see it. A revoked identity has no keys. */
export function identityView(identity: IdentityRow, liveKeys: readonly IdentityKeyRow[]): Identity {
  const { principal, kind, displayName, enrolledAtMs, enrolledBy, revokedAtMs, revokedBy } = identity;
  return {
    principal_id: principal,
    kind,
    display_name: displayName,
    state: revokedAtMs === null ? 'active' : 'revoked',
    keys: revokedAtMs === null ? liveKeys.map(keyView) : [],
    enrolled_at: instantOf(enrolledAtMs),
    enrolled_by: enrolledBy,
    revoked_at: instantOrNull(revokedAtMs),
    revoked_by: revokedBy,
  };
}

function keyView({ kid, createdAtMs, createdBy }: IdentityKeyRow): Identity['keys'][number] {
  return { kid, created_at: instantOf(createdAtMs), created_by: createdBy };
}
