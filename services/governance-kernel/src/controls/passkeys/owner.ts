import { AppError, type PrincipalId } from '@countersign/contracts';
import type { Caller } from '../../call/governed-call.ts';

/**
 * A person asserted by the gateway may manage only their own passkeys. Other callers are not restricted here. Throws
 * PERMISSION_DENIED.
 */
export function requireOwner({ assertion, principal }: Caller, owner: PrincipalId): void {
  if (assertion === undefined || principal === owner) return;
  throw new AppError('PERMISSION_DENIED', 'These passkeys belong to another person');
}
