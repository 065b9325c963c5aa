import { endSession } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { handleSession } from '../handle.ts';
import { recordAudit } from '../store/audit.ts';
import { revokeFamily } from '../store/sessions.ts';
import { findFirstMembership } from '../store/workspaces.ts';

export const endSessionRoute = (context: Context) =>
  handleSession(endSession)(async ({ caller: { session }, requestId }) => {
    await context.transaction(async (tx) => {
      const now = context.now();
      await revokeFamily(tx, session.familyId, { now, reason: 'signed_out' });
      const membership = await findFirstMembership(tx, session.user.id);
      if (membership === null) return;
      const { workspaceId } = membership;
      const actor = session.user.id;
      await recordAudit(
        tx,
        { workspaceId, action: 'session.ended', actor, verdict: 'allow', subject: actor, requestId },
        now,
      );
    });
    return { ok: true as const };
  });
