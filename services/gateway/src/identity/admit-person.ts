import { AppError } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { joinInvited } from '../members/join-invited.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findFirstMembership, type Membership } from '../store/workspaces.ts';
import { makeWorkspace } from './make-workspace.ts';
import { maySignUp } from './sign-up.ts';

/** A person who has just proven who it is, by what, and to join by which invite. */
export type ProvenPerson = { user: User; knownAs: string; inviteId: string | null; requestId: string };

/**
 * Lets a proven person in, to the workspace that the answer names; the first time it makes one. Throws PERMISSION_DENIED where that is not
 * for everybody.
 */
export async function admitPerson(
  tx: Tx,
  context: Context,
  { user, knownAs, inviteId, requestId }: ProvenPerson,
): Promise<Membership> {
  const now = context.now();
  const joined = inviteId === null ? null : await joinInvited(tx, context, { user, inviteId, requestId, now });
  const known = joined ?? (await findFirstMembership(tx, user.id));
  if (known === null && !maySignUp(context.config.signUp, knownAs))
    throw new AppError('PERMISSION_DENIED', 'This installation opens no workspace for this address; ask its operator');
  const workspace = known ?? (await makeWorkspace(tx, context, { owner: user, requestId }));
  const { workspaceId } = workspace;
  const event = { workspaceId, actor: user.id, verdict: 'allow', subject: user.id, requestId } as const;
  await recordAudit(tx, { ...event, action: 'session.opened' }, now);
  return workspace;
}
