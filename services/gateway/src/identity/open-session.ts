import { AppError } from '@countersign/contracts';
import type { SignedIn, User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { joinInvited } from '../members/join-invited.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { insertSession } from '../store/sessions.ts';
import { createWorkspace, findFirstMembership } from '../store/workspaces.ts';
import { newSessionToken, sessionLifetimeMs, sessionTokenHash } from './session-token.ts';
import { maySignUp } from './sign-up.ts';

/** A person who has just proven who it is, by what, and to join by which invite. */
type Proven = { user: User; knownAs: string; inviteId: string | null; requestId: string };

/** A session for a proven person; the first time it makes a workspace. Throws PERMISSION_DENIED where that is not for everybody. */
export async function openSession(
  tx: Tx,
  context: Context,
  { user, knownAs, inviteId, requestId }: Proven,
): Promise<SignedIn> {
  const now = context.now();
  const joined = inviteId === null ? null : await joinInvited(tx, context, { user, inviteId, requestId, now });
  const known = joined ?? (await findFirstMembership(tx, user.id));
  if (known === null && !maySignUp(context.config.signUp, knownAs))
    throw new AppError('PERMISSION_DENIED', 'This installation opens no workspace for this address; ask its operator');
  const workspace = known ?? (await createWorkspace(tx, user, now));
  const token = newSessionToken();
  const expiresAt = new Date(now.getTime() + sessionLifetimeMs);
  await insertSession(tx, { userId: user.id, tokenHash: sessionTokenHash(token), createdAt: now, expiresAt });
  const { workspaceId } = workspace;
  const event = { workspaceId, actor: user.id, verdict: 'allow', subject: workspaceId, requestId } as const;
  if (known === null) {
    await recordAudit(tx, { ...event, action: 'workspace.created' }, now);
    await publishMembersChanged(tx, context, workspaceId);
  }
  await recordAudit(tx, { ...event, action: 'session.opened', subject: user.id }, now);
  return { token, user, workspace: { id: workspaceId, name: workspace.workspaceName } };
}
