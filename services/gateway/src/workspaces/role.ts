import { AppError } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';

const rank: Record<Role, number> = { member: 1, partner: 2, owner: 3 };

export function hasRole(role: Role, least: Role): boolean {
  return rank[role] >= rank[least];
}

export function lowerRole(left: Role, right: Role): Role {
  return hasRole(left, right) ? right : left;
}

export function roleTooLow(needed: Role, role: Role): AppError {
  return new AppError('PERMISSION_DENIED', `This needs the role ${needed}`, { details: { needed, role } });
}
