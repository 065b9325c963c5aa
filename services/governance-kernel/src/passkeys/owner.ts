import { AppError, type PrincipalId } from '@countersign/contracts';
import type { Caller } from '../call/governed-call.ts';

/** A person behind the gateway has passkeys of their own; an operator enrols for all. Throws PERMISSION_DENIED. */
export function requireOwner({ assertion, principal }: Caller, owner: PrincipalId): void {
  if (assertion === undefined || principal === owner) return;
  throw new AppError('PERMISSION_DENIED', 'These passkeys belong to another person');
}
