import type { ConsoleWorkspaceWithMembers, PublicProof } from '@countersign/contracts/control-plane';
import type { Workspace } from '@countersign/contracts/gateway';
import type { OrgId } from '@countersign/contracts/governance-kernel';
import type { WorkspaceCaller } from '../guards.ts';

type Beside = { orgId: OrgId | null; role: WorkspaceCaller['role']; publicProof: PublicProof };

/** Maps a workspace of the gateway to this API. */
export function workspaceView(workspace: Workspace, { orgId, role, publicProof }: Beside): ConsoleWorkspaceWithMembers {
  const { id, name, members, createdAt } = workspace;
  return {
    ...{ workspace_id: id, name, org_id: orgId, role },
    members: members.map(({ userId, joinedAt, ...member }) => ({
      user_id: userId,
      name: member.name,
      email: member.email,
      role: member.role,
      joined_at: joinedAt,
    })),
    public_proof: publicProof,
    created_at: createdAt,
  };
}
