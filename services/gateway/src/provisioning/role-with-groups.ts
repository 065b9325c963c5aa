import { hasRole } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';

/** The higher of a person's own role and the role from groups. Groups remove only roles that they gave. */
export function roleWithGroups(local: Role | null, byGroups: Role | null): Role | null {
  if (local === null || byGroups === null) return local ?? byGroups;
  return hasRole(local, byGroups) ? local : byGroups;
}
