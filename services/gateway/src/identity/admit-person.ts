import { AppError } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { joinInvited } from '../members/join-invited.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { findFirstMembership, type Membership } from '../store/workspaces.ts';
import { makeWorkspace } from './make-workspace.ts';
import { maySignUp } from './sign-up.ts';

/** A person who has just proven to be `knownAs`, an address or messenger id. `inviteId`: the invite to join by. */
export type ProvenPerson = { user: User; knownAs: string; inviteId: string | null; requestId: string };

/**
 * Admits a proven person. Returns the workspace of the invite, else the first workspace of the person, else a new one.
 * Throws PERMISSION_DENIED when sign-up is restricted.
 */
export async function admitPerson(
  tx: Tx,
  context: Pick<Context, 'config' | 'newEvent' | 'now' | 'databaseNow'>,
  { user, knownAs, inviteId, requestId }: ProvenPerson,
): Promise<Membership> {
  const now = context.now();
  const joined = inviteId === null ? null : await joinInvited(tx, context, { user, inviteId, requestId, now });
  const existing = joined ?? (await findFirstMembership(tx, user.id));
  if (existing === null && !maySignUp(context.config.signUp, knownAs))
    throw new AppError(
      'PERMISSION_DENIED',
      'This installation admits no new workspaces for this address. Ask its operator for access',
    );
  const workspace = existing ?? (await makeWorkspace(tx, context, { owner: user, requestId }));
  const { workspaceId } = workspace;
  const event = { workspaceId, actor: user.id, verdict: 'allow', subject: user.id, requestId } as const;
  await recordAudit(tx, { ...event, action: 'session.opened' }, now);
  return workspace;
}
