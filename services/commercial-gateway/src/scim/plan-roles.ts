import { AppError, type PersonRole } from '@countersign/contracts';

/** A setting of the organisation: members of the group have the role. */
type RoleMapping = { readonly group: string; readonly role: PersonRole };

type Person = {
  readonly id: string;
  /** `null`: no member. */
  readonly role: PersonRole | null;
  readonly isActive: boolean;
  /** Ids of the groups of a provisioned person; `null` for a local person, whom no group concerns. */
  readonly groups: readonly string[] | null;
};

type Settings = {
  readonly mappings: readonly RoleMapping[];
  /** The role of provisioned people without a mapped group; `null`: they are no members. */
  readonly defaultRole: PersonRole | null;
};

type RoleChange = { readonly id: string; readonly role: PersonRole | null };

/** Highest first. */
const ranked: readonly PersonRole[] = ['owner', 'partner', 'member'];

/** The highest role of a person's groups. */
export function roleOfGroups(groups: readonly string[], { mappings, defaultRole }: Settings): PersonRole | null {
  const granted = mappings.filter(({ group }) => groups.includes(group)).map(({ role }) => role);
  return ranked.find((role) => granted.includes(role)) ?? defaultRole;
}

/** The changes that make all roles follow the groups. Throws LAST_OWNER when no active owner would be left. */
export function planRoles(people: readonly Person[], settings: Settings): RoleChange[] {
  const after = people.map((person) => ({
    ...person,
    next: person.groups === null ? person.role : roleOfGroups(person.groups, settings),
  }));
  const isOwned = people.some(({ role, isActive }) => role === 'owner' && isActive);
  if (isOwned && !after.some(({ next, isActive }) => next === 'owner' && isActive))
    throw new AppError(
      'LAST_OWNER',
      'The change would leave the organisation without an owner. Map another group to the role owner, or make a member an owner first.',
    );
  return after.filter(({ role, next }) => role !== next).map(({ id, next }) => ({ id, role: next }));
}
