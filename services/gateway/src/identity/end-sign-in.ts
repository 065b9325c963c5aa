import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { revokeFamily } from '../store/sessions.ts';
import { findFirstMembership } from '../store/workspaces.ts';

/** `ended`: by the session itself. `revoked`: from another session. */
type Ending = { user: User; familyId: string; action: 'session.ended' | 'session.revoked'; requestId: string };

/** Ends all sessions of one sign-in, as its person requested. */
export async function endSignIn(
  tx: Tx,
  context: Pick<Context, 'now'>,
  { user, familyId, action, requestId }: Ending,
): Promise<void> {
  const now = context.now();
  await revokeFamily(tx, familyId, { now, reason: action === 'session.ended' ? 'signed_out' : 'revoked' });
  const membership = await findFirstMembership(tx, user.id);
  if (membership === null) return;
  const event = { workspaceId: membership.workspaceId, action, actor: user.id, verdict: 'allow', requestId } as const;
  await recordAudit(tx, { ...event, subject: user.id, details: { session: familyId } }, now);
}
