import { hasRole } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';

/** A person's role with the role that groups give: the higher one. Groups take no role away that they did not give. */
export function roleWithGroups(local: Role | null, byGroups: Role | null): Role | null {
  if (local === null || byGroups === null) return local ?? byGroups;
  return hasRole(local, byGroups) ? local : byGroups;
}
