import { AppError } from '@countersign/contracts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { identities, type IdentityKey } from './identities.ts';

type Operator = Omit<IdentityKey, 'kind'>;

/**
 * Throws PERMISSION_DENIED for a revoked person, whatever their credential. The caller must have requested
 * `wantedIdentity(operator, 'operator')`.
 */
export function requireNotRevoked(batch: LedgerBatch, { tenant, principal }: Operator): void {
  if (!isOperatorRevoked(batch, { tenant, principal })) return;
  throw new AppError('PERMISSION_DENIED', 'This operator was revoked');
}

/** The caller must have requested `wantedIdentity(operator, 'operator')`. */
export function isOperatorRevoked(batch: LedgerBatch, { tenant, principal }: Operator): boolean {
  const identity = batch.row(identities, { tenant, kind: 'operator', principal });
  return identity !== null && identity.revokedAtMs !== null;
}
