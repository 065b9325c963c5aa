import { isAppError, type UserId, type WorkspaceId } from '@countersign/contracts';
import type { Role } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { publishMembersChanged } from '../events.ts';
import { endWordOf } from '../members/change-members.ts';
import { deliverChange } from '../members/deliver-members.ts';
import { proposeDecider } from '../members/propose-decider.ts';
import { requireMemberRoom } from '../members/require-member-room.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { addMember, countOwners, findRole, lockMembers, setRole } from '../store/members.ts';
import { findLocalRole, forgetLocalRole, keepLocalRole, type ProvisionedPerson } from '../store/provisioned-people.ts';
import { findUser } from '../store/users.ts';
import { findMembership } from '../store/workspaces.ts';
import { providerOf } from './provider-of.ts';
import { removeProvisioned } from './remove-provisioned.ts';
import { roleWithGroups } from './role-with-groups.ts';

type Deps = Pick<
  Context,
  'log' | 'database' | 'newEvent' | 'kernel' | 'deliveredMembers' | 'now' | 'databaseNow' | 'transaction'
>;

type Person = ProvisionedPerson & { userId: UserId };
type Step = { workspaceId: WorkspaceId; userId: UserId; from: Role | null; to: Role | null; local: Role | null };

/**
 * Gives a person the role of their groups in one workspace. `false` when it must be repeated: the kernel did not
 * answer, or the membership changed in the meantime.
 */
export async function settleRole(context: Deps, person: Person, workspaceId: WorkspaceId): Promise<boolean> {
  const { userId, role: byGroups, orgId } = person;
  const { reader } = context.database;
  const from = await findRole(reader, workspaceId, userId);
  const kept = await findLocalRole(reader, workspaceId, userId);
  const local = kept === undefined ? from : kept;
  const wanted = roleWithGroups(local, byGroups);
  if (wanted === from) return true;
  const decided = await decidedRole(context, person, { workspaceId, userId, from, to: wanted, local });
  if (decided === 'later') return false;
  if (decided === from) return true;
  const step = { workspaceId, userId, from, to: decided, local };
  const outcome = await takeWithinLimit(context, step, orgId);
  if (outcome === 'taken') await deliverChange(context, workspaceId);
  return outcome !== 'changed';
}

/**
 * The role that the kernel permits. A role that decides approvals is a change of the policy, made by the administrator
 * who mapped the group (ADR 84). Until it is permitted the person is a member, or keeps the current role.
 */
async function decidedRole(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  { grantedBy, orgId }: Person,
  { workspaceId, userId, from, to }: Step,
): Promise<Role | null | 'later'> {
  if (to === null || to === 'member') return to;
  const { reader } = context.database;
  const [user, membership] = [await findUser(reader, grantedBy), await findMembership(reader, workspaceId, grantedBy)];
  const lesser = from ?? 'member';
  if (user === null || membership?.role !== 'owner') {
    await recordRefusal(context, { workspaceId, userId, orgId, to, reason: 'PERMISSION_DENIED' });
    return lesser;
  }
  try {
    await proposeDecider(context, { ...membership, user }, { from, to, subject: userId, args: {} });
    return to;
  } catch (error) {
    if (!isAppError(error)) throw error;
    if (error.code !== 'POLICY_DENIED' && error.code !== 'APPROVAL_NEEDED') return 'later';
    await recordRefusal(context, { workspaceId, userId, orgId, to, reason: error.code });
    return lesser;
  }
}

type Refusal = Pick<Step, 'workspaceId' | 'userId' | 'to'> & { orgId: string; reason: string };

async function recordRefusal(
  context: Pick<Context, 'now' | 'transaction'>,
  { workspaceId, userId, orgId, to, reason }: Refusal,
): Promise<void> {
  const event = { workspaceId, action: 'member.role_changed', actor: providerOf(orgId), requestId: null } as const;
  const refused = { ...event, verdict: 'deny', reason, subject: userId, details: { role: to } } as const;
  await context.transaction((tx) => recordAudit(tx, refused, context.now()));
}

/** A person above the member limit of the plan gets no membership until the limit changes. */
async function takeWithinLimit(
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow' | 'transaction'>,
  step: Step,
  orgId: string,
): Promise<Outcome> {
  try {
    return await context.transaction((tx) => take(tx, context, step, orgId));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'LIMIT_REACHED') throw error;
    await recordRefusal(context, { ...step, orgId, reason: error.code });
    return 'kept';
  }
}

type Outcome = 'taken' | 'kept' | 'changed';

/** `kept`: the last owner stays. `changed`: the membership changed after the decision. */
async function take(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { workspaceId, userId, from, to, local }: Step,
  orgId: string,
): Promise<Outcome> {
  await lockMembers(tx, workspaceId);
  if ((await findRole(tx, workspaceId, userId)) !== from) return 'changed';
  if (from === 'owner' && (await countOwners(tx, workspaceId)) <= 1) return 'kept';
  const actor = providerOf(orgId);
  if (to === null) {
    if (from !== null) await removeProvisioned(tx, context, { workspaceId, userId, role: from, actor });
    return 'taken';
  }
  const now = context.now();
  if (from === null) {
    await addMember(tx, { workspaceId, userId, role: to, joinedAt: now });
    await requireMemberRoom(tx, workspaceId);
  } else await setRole(tx, workspaceId, userId, to);
  if (to === local) await forgetLocalRole(tx, { workspaceId, userId });
  else await keepLocalRole(tx, { workspaceId, userId }, local);
  const ended = from === 'owner' ? await endWordOf(tx, context, { workspaceId, userId }) : {};
  await publishMembersChanged(tx, context, workspaceId);
  const action = from === null ? ('member.joined' as const) : ('member.role_changed' as const);
  const event = { workspaceId, action, actor, requestId: null, subject: userId } as const;
  await recordAudit(tx, { ...event, verdict: 'allow', details: { before: from, role: to, ...ended } }, now);
  return 'taken';
}
