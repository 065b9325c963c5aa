import type { Instant } from '@countersign/contracts';
import type { Identity } from '@countersign/contracts/governance-kernel';
import type { IdentityKeyRow } from './identity-keys.ts';
import type { IdentityRow } from './identities.ts';

/** An identity as operators see it. The keys of a revoked one have ended with it. */
export function identityView(identity: IdentityRow, liveKeys: readonly IdentityKeyRow[]): Identity {
  const { principal, kind, displayName, enrolledAtMs, enrolledBy, revokedAtMs, revokedBy } = identity;
  return {
    principal_id: principal,
    kind,
    display_name: displayName,
    state: revokedAtMs === null ? 'active' : 'revoked',
    keys: revokedAtMs === null ? liveKeys.map(keyView) : [],
    enrolled_at: instant(enrolledAtMs),
    enrolled_by: enrolledBy,
    revoked_at: revokedAtMs === null ? null : instant(revokedAtMs),
    revoked_by: revokedBy,
  };
}

function keyView({ kid, createdAtMs, createdBy }: IdentityKeyRow): Identity['keys'][number] {
  return { kid, created_at: instant(createdAtMs), created_by: createdBy };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
