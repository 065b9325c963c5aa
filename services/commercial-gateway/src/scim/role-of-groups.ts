import type { PersonRole } from '@countersign/contracts';
import type { RoleMapping } from '@countersign/contracts/commercial-gateway';

/** Highest first. */
const ranked: readonly PersonRole[] = ['owner', 'partner', 'member'];

/** Returns the highest role that the groups of a person map to. `null` when no mapping names one of the groups. */
export function roleOfGroups(groups: readonly string[], mappings: readonly RoleMapping[]): PersonRole | null {
  const granted = mappings.filter(({ group }) => groups.includes(group)).map(({ role }) => role);
  return ranked.find((role) => granted.includes(role)) ?? null;
}
