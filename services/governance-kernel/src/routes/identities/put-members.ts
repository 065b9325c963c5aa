import { WorkspaceId } from '@countersign/contracts';
import { putMembers } from '@countersign/contracts/governance-kernel';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { applyMembers } from '../../controls/relations/apply-members.ts';
import { findMembersVersion } from '../../store/member-store.ts';

/** Sets the list of members, which also arrives as a message. A list that is already in force is not written again. */
export const putMembersRoute = (kernel: Context) =>
  handleSystem(putMembers)(async ({ params: { tenant }, body: { version, members } }) => {
    const current = await findMembersVersion(kernel.reader, tenant);
    if (current >= version) return { version: current };
    const roles = members.map(({ user_id: userId, role }) => ({ userId, role }));
    await applyMembers(kernel, { workspaceId: WorkspaceId.parse(tenant), version, members: roles });
    return { version: Math.max(version, await findMembersVersion(kernel.reader, tenant)) };
  });
