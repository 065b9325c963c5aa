import { instantOrNull, instantOf } from '@countersign/contracts';
import type { Passkey } from '@countersign/contracts/governance-kernel';
import { stateOf, type PasskeyRow } from './passkeys.ts';
import { publicKeyOf } from './webauthn.ts';

/** Nothing in this view is secret, since the private key never leaves its authenticator. */
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
    created_at: instantOf(row.createdAtMs),
    created_by: row.createdBy,
    vouched_by: row.vouchedBy,
    last_used_at: instantOrNull(row.lastUsedAtMs),
    revoked_at: instantOrNull(row.revokedAtMs),
  };
}
