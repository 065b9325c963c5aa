import { anonymousActor } from '@countersign/contracts/control-plane';
import type { Context } from '../context.ts';
import { publishSessionEnded, type EndReason } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { endSession, type StoredSession } from '../store/sessions.ts';

type Ending = { reason: EndReason; /** `null` when no request ended the session. */ requestId: string | null };

/** The identity provider of an organisation, in audit entries of people. */
const providerActor = 'identity-provider';

/** Ends a session once. Its tokens become invalid, and an event and the audit log of the person state the reason. */
export async function endSignIn(
  tx: Tx,
  context: Pick<Context, 'now' | 'newEvent'>,
  session: StoredSession,
  { reason, requestId }: Ending,
): Promise<void> {
  const now = context.now();
  if (!(await endSession(tx, session, { now, reason }))) return;
  await publishSessionEnded(tx, context, { ...session, reason });
  await recordAudit(tx, { ...actOf(session, reason), subject: session.id, requestId }, now);
}

/**
 * The audit entry for a reason. If two parties have one refresh token, the real owner is unknown, so the actor is
 * anonymous.
 */
function actOf({ userId }: StoredSession, reason: EndReason) {
  const own = { scope: userId, actor: userId, verdict: 'allow' } as const;
  switch (reason) {
    case 'signed_out':
    case 'signed_in_again':
      return { ...own, action: 'session.ended' } as const;
    case 'ended_by_owner':
      return { ...own, action: 'session.revoked' } as const;
    case 'access_ended':
      return { ...own, action: 'session.revoked', actor: providerActor } as const;
    case 'refresh_reused':
      return {
        scope: userId,
        action: 'session.revoked',
        actor: anonymousActor,
        verdict: 'deny',
        reason: 'REFRESH_REUSED',
      } as const;
    default:
      return reason satisfies never;
  }
}
