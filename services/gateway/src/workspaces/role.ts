import type { Role } from '@countersign/contracts/gateway';

const rank: Record<Role, number> = { member: 1, partner: 2, owner: 3 };

export function hasRole(role: Role, least: Role): boolean {
  return rank[role] >= rank[least];
}
