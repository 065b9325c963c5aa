import { revokeInvite } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { notFound } from '../../not-found.ts';
import { handleWorkspace } from '../../handle.ts';
import { recordAudit } from '../../store/audit.ts';
import { endInvite } from '../../store/invites.ts';
import { holdRole } from '../../members/hold-role.ts';

export const revokeInviteRoute = (context: Context) =>
  handleWorkspace(revokeInvite)(async ({ params: { inviteId }, caller, requestId }) => {
    const { workspaceId, actor } = caller;
    await context.transaction(async (tx) => {
      await holdRole(tx, caller, 'owner');
      const now = context.now();
      if (!(await endInvite(tx, workspaceId, inviteId, now))) throw notFound();
      const event = { workspaceId, action: 'invite.revoked', actor, requestId } as const;
      await recordAudit(tx, { ...event, verdict: 'allow', subject: inviteId }, now);
    });
    return { ok: true as const };
  });
