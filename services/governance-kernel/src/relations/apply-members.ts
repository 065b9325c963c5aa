import { TenantId, type PrincipalId, type UserId, type WorkspaceId } from '@countersign/contracts';
import { RelationTuple } from '@countersign/contracts/governance-kernel';
import { changesOf, whileItStands, writeChanges, type RelationWriting } from './change-relations.ts';

/** Who is in a workspace, whole, under a version that rises with each change. */
type MemberList = {
  workspaceId: WorkspaceId;
  version: number;
  members: readonly { userId: UserId; role: Role }[];
};

/** An owner has what a partner has, who has what a member has. */
const roles = ['owner', 'partner', 'member'] as const;
type Role = (typeof roles)[number];

const gateway = 'gateway' as PrincipalId; // within its schema

/**
 * Makes these relations of a workspace what its list of members says, sealed: `workspace:<id>#<role>@user:<id>`. A list says all, so
 * one that was lost is made good by the next; one that comes late changes nothing, and one that came before confirms. False: a later
 * one stands.
 */
export async function applyMembers(
  parts: RelationWriting,
  { workspaceId, version, members }: MemberList,
): Promise<boolean> {
  const tenant = TenantId.parse(workspaceId);
  const tuples = tuplesOf(workspaceId, members);
  const [{ object }] = tuples;
  return await whileItStands(parts, tenant, async (standing) => {
    if (version < (standing?.head.membersVersion ?? 0)) return false;
    const there = await parts.standingRelations.listTuplesOf(tenant, object, roles);
    const told = new Set(tuples.map(nameOf));
    const deletes = there.filter((tuple) => !told.has(nameOf(tuple)));
    const changes = await changesOf(parts, tenant, { writes: tuples, deletes, entities: [] });
    await writeChanges(parts, { tenant, by: gateway, standing, changes, membersVersion: version });
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
