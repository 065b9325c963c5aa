import { createInvite } from '@countersign/contracts/gateway';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { createInviteOf } from '../../members/create-invite.ts';
import { inviteAddress } from '../../members/invite-address.ts';

export const createInviteRoute = (context: Context) =>
  handleWorkspace(createInvite)(async ({ body: { email, role }, caller, requestId, log }) => {
    const inviteToken = await createInviteOf(context, { email, role, caller, requestId });
    const inviteUrl = inviteAddress(context.config, inviteToken);
    const invitation = { workspace: caller.workspaceName, from: caller.user.email ?? caller.user.name, url: inviteUrl };
    const mailed = await (context.mailer?.sendInvite(email, invitation) ?? Promise.resolve(false)).catch((error) => {
      log.error('mail.not_sent', { error });
      return false;
    });
    return { inviteUrl, inviteToken, role, expiresIn: '7 days' as const, mailed };
  });
