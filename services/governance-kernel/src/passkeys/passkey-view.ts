import type { Instant } from '@countersign/contracts';
import type { Passkey } from '@countersign/contracts/governance-kernel';
import { stateOf, type PasskeyRow } from './passkeys.ts';
import { publicKeyOf } from './webauthn.ts';

/** Nothing of a passkey is secret here: what it signs with never leaves its authenticator. */
export function passkeyView(row: PasskeyRow): Passkey {
  return {
    credential_id: row.id,
    principal_id: row.principal,
    state: stateOf(row),
    public_key: publicKeyOf(row.publicKey),
    counter: row.counter,
    transports: [...row.transports],
    is_backup_eligible: row.isBackupEligible,
    is_backed_up: row.isBackedUp,
    created_at: instant(row.createdAtMs),
    created_by: row.createdBy,
    vouched_by: row.vouchedBy,
    last_used_at: row.lastUsedAtMs === null ? null : instant(row.lastUsedAtMs),
    revoked_at: row.revokedAtMs === null ? null : instant(row.revokedAtMs),
  };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
