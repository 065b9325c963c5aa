import { AppError, type PrincipalId } from '@countersign/contracts';
import type { Caller } from '../call/governed-call.ts';

/** Whom the gateway speaks for has passkeys of their own; an operator enrols for anybody. Throws PERMISSION_DENIED. */
export function requireOwner({ assertion, principal }: Caller, owner: PrincipalId): void {
  if (assertion === undefined || principal === owner) return;
  throw new AppError('PERMISSION_DENIED', 'These are the passkeys of somebody else');
}
