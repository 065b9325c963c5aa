import { AppError, type PrincipalId } from '@countersign/contracts';
import { stateOf, type PasskeyRow } from './passkeys.ts';

/**
 * The time within which a passkey must be confirmed. An older waiting passkey was probably forgotten, or may belong to
 * an attacker.
 */
export const waitingMsMax = 86_400_000;

/** Throws NOT_FOUND, and ILLEGAL_TRANSITION for a passkey that no longer waits, or has waited too long. */
export function requireWaiting(
  row: PasskeyRow | null,
  { principal, nowMs }: { principal: PrincipalId | null; nowMs: number },
): PasskeyRow {
  if (row === null || (principal !== null && row.principal !== principal))
    throw new AppError('NOT_FOUND', 'This person has no passkey with this ID');
  const state = stateOf(row);
  if (state === 'waiting' && nowMs < row.createdAtMs + waitingMsMax) return row;
  const what = state === 'waiting' ? 'has waited for more than a day' : `is ${state}`;
  throw new AppError('ILLEGAL_TRANSITION', `This passkey ${what}`, { details: { state, allowed: [] } });
}
