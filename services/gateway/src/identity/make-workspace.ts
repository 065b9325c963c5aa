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

/** Creates a workspace with its owner, audit chain and list of members in one transaction. */
export async function makeWorkspace(
  tx: Tx,
  context: Pick<Context, 'config' | 'newEvent' | 'now' | 'databaseNow'>,
  { owner, name, requestId }: Made,
): Promise<Membership> {
  const now = context.now();
  const made = await createWorkspace(tx, { owner, name: name ?? `${owner.name}'s workspace` }, now);
  const { workspaceId } = made;
  const { currency } = context.config;
  // The kernel refuses a ceiling in a currency that differs from that of its prices.
  if (currency !== null) await putSettings(tx, workspaceId, { settings: settingsIn(currency), version: 1 }, now);
  const event = { workspaceId, actor: owner.id, verdict: 'allow', subject: workspaceId, requestId } as const;
  await recordAudit(tx, { ...event, action: 'workspace.created' }, now);
  await publishMembersChanged(tx, context, workspaceId);
  return made;
}

/** More than a company has teams. Each workspace adds an entry to lists and a tenant at the kernel. */
const ownedMax = 100;

/**
 * Checks whether a signed-in person may create a workspace, and permits one such request at a time. Throws
 * PERMISSION_DENIED when sign-up is restricted, and RATE_LIMITED for owners of 100 workspaces.
 */
export async function requireMayMake(tx: Tx, { config }: Pick<Context, 'config'>, { id }: User): Promise<void> {
  await lockUser(tx, id);
  const names = await listKnownAs(tx, id);
  if (!names.some((name) => maySignUp(config.signUp, name)))
    throw new AppError(
      'PERMISSION_DENIED',
      'This installation admits no new workspaces for you. Ask its operator for access',
    );
  if ((await countOwned(tx, id)) >= ownedMax)
    throw new AppError('RATE_LIMITED', `You own ${ownedMax} workspaces, which is the limit. Transfer one first`);
}
