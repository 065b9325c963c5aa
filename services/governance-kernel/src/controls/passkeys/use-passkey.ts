import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { wanted, type Wanted } from '../../ledger/control.ts';
import { passkeys, stateOf, type PasskeyRow } from './passkeys.ts';
import type { PasskeyUse } from './webauthn.ts';

type Used = { tenant: TenantId; principal: PrincipalId; use: PasskeyUse };

export function wantedPasskey(tenant: TenantId, { id }: Pick<PasskeyUse, 'id'>): Wanted {
  return wanted(passkeys, { tenant, id });
}

/**
 * Counts a use at the commit. Throws PASSKEY_REFUSED unless the passkey belongs to this person, is active, and has the
 * verified key. Also throws if its counter did not increase, which indicates a cloned authenticator. Authenticators
 * without a counter always report 0.
 */
export function countUse(batch: LedgerBatch, { tenant, principal, use }: Used, nowMs: number): PasskeyRow {
  const row = batch.row(passkeys, { tenant, id: use.id });
  if (row?.principal !== principal || row.publicKey !== use.publicKey || stateOf(row) !== 'active')
    throw new AppError(
      'PASSKEY_REFUSED',
      'This passkey is not one of your active passkeys. Use another one, or register it',
    );
  const counts = row.counter > 0 || use.counter > 0;
  if (counts && use.counter <= row.counter)
    throw new AppError(
      'PASSKEY_REFUSED',
      'The counter of this passkey did not increase, so the passkey may have been copied. Revoke it',
    );
  return { ...row, counter: use.counter, isBackedUp: use.isBackedUp, lastUsedAtMs: nowMs };
}
