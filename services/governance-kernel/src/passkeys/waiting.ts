import { AppError, type PrincipalId } from '@countersign/contracts';
import { stateOf, type PasskeyRow } from './passkeys.ts';

/** The voucher was informed just now; a passkey that waits for longer was forgotten, or is a trap. */
export const waitingMsMax = 86_400_000;

/** Throws NOT_FOUND, and ILLEGAL_TRANSITION for a passkey that waits no more. */
export function requireWaiting(
  row: PasskeyRow | null,
  { principal, nowMs }: { principal: PrincipalId | null; nowMs: number },
): PasskeyRow {
  if (row === null || (principal !== null && row.principal !== principal))
    throw new AppError('NOT_FOUND', 'There is no such passkey');
  const state = stateOf(row);
  if (state === 'waiting' && nowMs < row.createdAtMs + waitingMsMax) return row;
  const what = state === 'waiting' ? 'has waited for more than a day' : `is ${state}`;
  throw new AppError('ILLEGAL_TRANSITION', `This passkey ${what}`, { details: { state, allowed: [] } });
}
