import { scimLimits, type ScimListQuery } from '@countersign/contracts/commercial-gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { listResponse } from '../scim/list-response.ts';
import { parseGroupFilter, parseUserFilter } from '../scim/resource-filters.ts';
import { groupView, leavesOutMembers, userView, type Projection } from '../scim/resource-view.ts';
import type { Reader } from '../store/database.ts';
import { listGroupsOf, listMembersOf, listScimGroups, type StoredScimGroup } from '../store/scim-groups.ts';
import { findMemberNames, listScimUsers, type StoredScimUser } from '../store/scim-users.ts';

type Deps = Pick<Context, 'transaction'> & { baseUrl: string };

/** Returns a page of the people of an organisation. */
export function userPage(
  { transaction, baseUrl }: Deps,
  orgId: OrgId,
  { filter, startIndex, count, ...projection }: ScimListQuery,
) {
  const predicate = filter === undefined ? null : parseUserFilter(filter);
  return transaction(async (tx) => {
    const { total, users } = await listScimUsers(tx, orgId, { filter: predicate, startIndex, count });
    const resources = await userResources(tx, users, { orgId, baseUrl, projection });
    return listResponse({ resources, totalResults: total, startIndex });
  });
}

/**
 * Returns a page of the groups of an organisation. It is cut so that all its groups together have at most as many
 * members as one group may have.
 */
export function groupPage(
  { transaction, baseUrl }: Deps,
  orgId: OrgId,
  { filter, startIndex, count, ...projection }: ScimListQuery,
) {
  const predicate = filter === undefined ? null : parseGroupFilter(filter);
  return transaction(async (tx) => {
    const { total, groups } = await listScimGroups(tx, orgId, { filter: predicate, startIndex, count });
    const shown = leavesOutMembers(projection) ? groups : groups.slice(0, fitting(groups));
    const resources = await groupResources(tx, shown, { orgId, baseUrl, projection });
    return listResponse({ resources, totalResults: total, startIndex });
  });
}

type Showing = { orgId: OrgId; baseUrl: string; projection: Projection };

export async function userResources(
  reader: Reader,
  users: readonly StoredScimUser[],
  { orgId, baseUrl, projection }: Showing,
) {
  const memberships = await listGroupsOf(
    reader,
    orgId,
    users.map(({ id }) => id),
  );
  const groupsOf = grouped(memberships, ({ userId }) => userId);
  return users.map((user) => {
    const groups = (groupsOf.get(user.id) ?? []).map(({ groupId, displayName }) => ({
      value: groupId,
      display: displayName,
    }));
    return userView({ ...user, groups }, baseUrl, projection);
  });
}

export async function groupResources(
  reader: Reader,
  groups: readonly StoredScimGroup[],
  { orgId, baseUrl, projection }: Showing,
) {
  const groupIds = leavesOutMembers(projection) ? [] : groups.map(({ id }) => id);
  const memberships = await listMembersOf(reader, orgId, groupIds);
  const names = await findMemberNames(reader, orgId, [...new Set(memberships.map(({ userId }) => userId))]);
  const membersOf = grouped(memberships, ({ groupId }) => groupId);
  return groups.map(({ displayName, externalId, ...group }) => {
    const members = (membersOf.get(group.id) ?? []).map(({ userId }) => ({
      value: userId,
      $ref: `${baseUrl}/Users/${userId}`,
      display: names.get(userId) ?? userId,
      type: 'User' as const,
    }));
    const attributes = {
      displayName,
      ...(externalId === null ? {} : { externalId }),
      ...(members.length === 0 ? {} : { members }),
    };
    return groupView({ ...group, attributes }, baseUrl, projection);
  });
}

/** Returns how many of the groups fit into one page: at least one. */
function fitting(groups: readonly { memberCount: number }[]): number {
  let members = 0;
  const end = groups.findIndex(({ memberCount }) => (members += memberCount) > scimLimits.membersPerGroup);
  return end === -1 ? groups.length : Math.max(end, 1);
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): ReadonlyMap<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
