import { workspacesPerOrg } from '@countersign/contracts/gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { publishPeople as publish } from '../events.ts';
import { roleOfGroups } from '../scim/role-of-groups.ts';
import type { Tx } from '../store/database.ts';
import { findIdentity } from '../store/identity-settings.ts';
import { findOrg, listWorkspaceIdsOf } from '../store/orgs.ts';
import { listGroupsOf } from '../store/scim-groups.ts';
import { listDueOrgs, takeDuePeople, type DuePerson } from '../store/scim-effects.ts';

const peopleAtOnce = 100;

type Publishing = Pick<Context, 'transaction' | 'newEvent' | 'log'>;

/**
 * Publishes the state of people after a change. Organisations take turns, and a failure of one organisation does not
 * delay the others. Returns the number of people.
 */
export async function publishPeople(context: Publishing): Promise<number> {
  let published = 0;
  for (const orgId of await context.transaction(listDueOrgs))
    try {
      published += await publishPeopleOf(context, orgId);
    } catch (error) {
      context.log.warn('people.not_published', { org_id: orgId, error });
    }
  return published;
}

/**
 * Publishes each state as one event, in the transaction that removes the mark. A concurrent change waits for this
 * transaction and marks the person again.
 */
function publishPeopleOf({ transaction, newEvent }: Publishing, orgId: OrgId): Promise<number> {
  return transaction(async (tx) => {
    const due = await takeDuePeople(tx, orgId, peopleAtOnce);
    await publish(tx, { newEvent }, await statesOf(tx, orgId, due));
    return due.length;
  });
}

/** Returns the states to publish. Resources without an address are skipped, because they have no account. */
async function statesOf(tx: Tx, orgId: OrgId, people: readonly DuePerson[]) {
  const org = await findOrg(tx, orgId);
  if (org === null) throw new Error(`The organisation ${orgId} is not in the directory`);
  const { roleMappings } = await findIdentity(tx, orgId);
  const workspaceIds = await listWorkspaceIdsOf(tx, orgId);
  if (workspaceIds.length > workspacesPerOrg)
    throw new Error(`${orgId} has ${workspaceIds.length} workspaces (limit ${workspacesPerOrg})`);
  const memberships = await listGroupsOf(
    tx,
    orgId,
    people.map(({ id }) => id),
  );
  return people.flatMap((person) => {
    if (person.address === null) return [];
    const groups = memberships.filter(({ userId }) => userId === person.id).map(({ displayName }) => displayName);
    const state = {
      ...{ org_id: orgId, scim_user_id: person.id, sequence: person.sequence, access_epoch: person.accessEpoch },
      ...{ address: person.address, display_name: person.displayName, is_active: person.isActive },
      role: person.isActive ? roleOfGroups(groups, roleMappings) : null,
      ...{ workspace_ids: workspaceIds, granted_by: org.adminId },
    };
    return { state, endsAccess: person.endsAccess };
  });
}
