import { AppError, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { wanted, type Wanted } from '../ledger/control.ts';
import { passkeys, stateOf, type PasskeyRow } from './passkeys.ts';
import type { PasskeyUse } from './webauthn.ts';

type Used = { tenant: TenantId; principal: PrincipalId; use: PasskeyUse };

export function wantedPasskey(tenant: TenantId, { id }: Pick<PasskeyUse, 'id'>): Wanted {
  return wanted(passkeys, { tenant, id });
}

/**
 * Counts a use at the moment of the commit. Throws PASSKEY_REFUSED unless the passkey is this person's, active, the key
 * that was verified, and its counter has risen since its last use. A copy of an authenticator counts from where it was
 * copied.
 */
export function countUse(batch: LedgerBatch, { tenant, principal, use }: Used, nowMs: number): PasskeyRow {
  const row = batch.row(passkeys, { tenant, id: use.id });
  if (row?.principal !== principal || row.publicKey !== use.publicKey || stateOf(row) !== 'active')
    throw new AppError('PASSKEY_REFUSED', 'This passkey is no active passkey of yours');
  const counts = row.counter > 0 || use.counter > 0;
  if (counts && use.counter <= row.counter)
    throw new AppError('PASSKEY_REFUSED', 'The counter of this passkey has not risen, so there may be a copy of it');
  return { ...row, counter: use.counter, isBackedUp: use.isBackedUp, lastUsedAtMs: nowMs };
}
