import { AppError } from '@countersign/contracts';
import type { User } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { countOwned } from '../store/members.ts';
import { listKnownAs, lockUser } from '../store/users.ts';
import { createWorkspace, putSettings, type Membership } from '../store/workspaces.ts';
import { settingsIn } from '../workspaces/settings.ts';
import { maySignUp } from './sign-up.ts';

type Made = { owner: User; name?: string | undefined; requestId: string };

/** A new workspace with its owner: it commits with its audit chain, and with the list of its members. */
export async function makeWorkspace(tx: Tx, context: Context, { owner, name, requestId }: Made): Promise<Membership> {
  const now = context.now();
  const made = await createWorkspace(tx, { owner, name: name ?? `${owner.name}'s workspace` }, now);
  const { workspaceId } = made;
  const { currency } = context.config;
  // The kernel refuses a ceiling in another currency than its prices.
  if (currency !== null) await putSettings(tx, workspaceId, { settings: settingsIn(currency), version: 1 }, now);
  const event = { workspaceId, actor: owner.id, verdict: 'allow', subject: workspaceId, requestId } as const;
  await recordAudit(tx, { ...event, action: 'workspace.created' }, now);
  await publishMembersChanged(tx, context, workspaceId);
  return made;
}

/** More than a company has teams; each workspace costs room in every list and a tenant at the kernel. */
const ownedMax = 100;

/**
 * Checks whether a signed-in person may make a workspace of their own, and allows one request of theirs at a time.
 * Throws PERMISSION_DENIED when the installation forbids it, RATE_LIMITED for an owner of a hundred. Throws
 * PERMISSION_DENIED where that is not for everybody, RATE_LIMITED for who owns a hundred.
 */
export async function requireMayMake(tx: Tx, { config }: Pick<Context, 'config'>, { id }: User): Promise<void> {
  await lockUser(tx, id);
  const names = await listKnownAs(tx, id);
  if (!names.some((name) => maySignUp(config.signUp, name)))
    throw new AppError('PERMISSION_DENIED', 'This installation opens no workspace for you; ask its operator');
  if ((await countOwned(tx, id)) >= ownedMax)
    throw new AppError('RATE_LIMITED', `You own ${ownedMax} workspaces already; hand one over first`);
}
