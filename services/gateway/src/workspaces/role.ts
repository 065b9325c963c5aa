import { AppError, hasRole, mayDo, PersonRole, type Right } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';

export function lowerRole(left: Role, right: Role): Role {
  return hasRole(left, right) ? right : left;
}

export function roleTooLow(needed: Role, role: Role): AppError {
  return new AppError('PERMISSION_DENIED', `This needs the role ${needed}`, { details: { needed, role } });
}

/** The lowest role with a right, for the message of a refusal. */
export function leastRoleFor(right: Right): Role {
  return PersonRole.options.find((role) => mayDo(role, right)) ?? 'owner';
}
