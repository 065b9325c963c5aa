import { TenantId, PrincipalId, type UserId, type WorkspaceId } from '@countersign/contracts';
import { RelationTuple } from '@countersign/contracts/governance-kernel';
import { changesOf, whileItStands, writeChanges, type RelationWriting } from './change-relations.ts';

/** The whole list of members of a workspace, under a version that rises with each change. */
type MemberList = {
  workspaceId: WorkspaceId;
  version: number;
  members: readonly { userId: UserId; role: Role }[];
};

/** An owner has all rights of a partner, and a partner has all rights of a member. */
const roles = ['owner', 'partner', 'member'] as const;
type Role = (typeof roles)[number];

const gateway = PrincipalId.parse('gateway');

/**
 * Sets the relations of a workspace to its list of members, sealed: `workspace:<id>#<role>@user:<id>`. Each list is
 * complete, so a lost list does no harm. A repeated list confirms the relations. `false` when a later list is in force,
 * and then nothing changes.
 */
export async function applyMembers(
  deps: RelationWriting,
  { workspaceId, version, members }: MemberList,
): Promise<boolean> {
  const tenant = TenantId.parse(workspaceId);
  const tuples = tuplesOf(workspaceId, members);
  const [{ object }] = tuples;
  return await whileItStands(deps, tenant, async (current) => {
    if (version < (current?.head.membersVersion ?? 0)) return false;
    const there = await deps.standingRelations.listTuplesOf(tenant, object, roles);
    const reported = new Set(tuples.map(nameOf));
    const deletes = there.filter((tuple) => !reported.has(nameOf(tuple)));
    const changes = await changesOf(deps, tenant, { writes: tuples, deletes, entities: [] });
    await writeChanges(deps, { tenant, by: gateway, current, changes, membersVersion: version });
    return true;
  });
}

function tuplesOf(workspaceId: WorkspaceId, members: MemberList['members']): [RelationTuple, ...RelationTuple[]] {
  const object = `workspace:${workspaceId}`;
  const tuple = (relation: Role, subject: string) => RelationTuple.parse({ object, relation, subject });
  return [
    tuple('partner', `${object}#owner`),
    tuple('member', `${object}#partner`),
    ...members.map(({ userId, role }) => tuple(role, `user:${userId}`)),
  ];
}

function nameOf({ relation, subject }: RelationTuple): string {
  return `${relation}@${subject}`;
}
