import type { UserId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { endInvitesOf } from '../store/invites.ts';
import { countOwners, findRole, lockMembers } from '../store/members.ts';
import {
  isActiveElsewhere,
  lockOlderPerson,
  writePerson,
  type PersonState,
  type ProvisionedPerson,
} from '../store/provisioned-people.ts';
import { changeAddress, ensureProvisionedUser, findUserByAddress, renameUser } from '../store/users.ts';
import { endAccess } from './end-access.ts';
import { providerOf } from './provider-of.ts';
import { endSessionsOutsideRule } from './receive-sign-in-rule.ts';
import { removeProvisioned } from './remove-provisioned.ts';

/**
 * Stores the state of a person and ends the access that it revokes. A state that is not newer changes nothing, so
 * events may be repeated and reordered. Work that needs the kernel is left to `settlePerson`.
 */
export async function receivePerson(
  tx: Tx,
  context: Pick<Context, 'log' | 'newEvent' | 'now' | 'databaseNow'>,
  state: PersonState,
): Promise<void> {
  const before = await lockOlderPerson(tx, state);
  if (before === null) return;
  const now = context.now();
  const userId = await accountOf(tx, context, { before, state, now });
  const isEnded = userId !== null && state.access_epoch > before.accessEpoch;
  await writePerson(tx, { state, userId, approvalsDue: before.approvalsDue || isEnded, now });
  if (userId === null) return;
  const { workspace_ids: workspaceIds, org_id: orgId } = state;
  if (isEnded) await endAccess(tx, context, { userId, workspaceIds, now });
  if (!state.is_active && !(await isActiveElsewhere(tx, before, userId)))
    for (const workspaceId of workspaceIds.toSorted())
      await leave(tx, context, { workspaceId, userId, orgId, address: state.address });
}

type Accounting = { before: ProvisionedPerson; state: PersonState; now: Date };

/**
 * The account of the person, with the name and address of the new state. `null` when an inactive person has no account.
 * The organisation owns the domain of the address, so an existing account with this address is the right one.
 */
async function accountOf(
  tx: Tx,
  context: Pick<Context, 'log' | 'newEvent' | 'now'>,
  { before, state, now }: Accounting,
): Promise<UserId | null> {
  const { address, display_name: name } = state;
  if (before.userId === null) {
    if (!state.is_active) return (await findUserByAddress(tx, address))?.id ?? null;
    return (await ensureProvisionedUser(tx, { address, name }, now)).id;
  }
  if (before.displayName !== name) await renameUser(tx, before.userId, name);
  if (before.address === address) return before.userId;
  const holder = await findUserByAddress(tx, address);
  const change = { id: before.userId, from: before.address, to: address };
  if (holder === null && (await changeAddress(tx, change)))
    await endSessionsOutsideRule(tx, context, { userId: before.userId, address });
  else context.log.warn('provisioning.address_kept', { orgId: state.org_id, scimUserId: state.scim_user_id });
  return before.userId;
}

type Leaving = { workspaceId: string; userId: UserId; orgId: string; address: string };

/** Ends a membership and the invites that could restore it. The last owner of a workspace stays. */
async function leave(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { workspaceId, userId, orgId, address }: Leaving,
): Promise<void> {
  await lockMembers(tx, workspaceId);
  const role = await findRole(tx, workspaceId, userId);
  const now = context.now();
  if (role === 'owner' && (await countOwners(tx, workspaceId)) <= 1) {
    const kept = { workspaceId, action: 'member.kept', actor: providerOf(orgId), reason: 'LAST_OWNER' } as const;
    await recordAudit(tx, { ...kept, verdict: 'deny', subject: userId, requestId: null }, now);
    return;
  }
  await endInvitesOf(tx, workspaceId, address, now);
  if (role !== null) await removeProvisioned(tx, context, { workspaceId, userId, role, actor: providerOf(orgId) });
}
