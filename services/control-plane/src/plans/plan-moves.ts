import { AppError, ApprovalId, isAppError, PlanId, type Digest } from '@countersign/contracts';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { KeyedCaller, WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { knownId } from '../siblings/known-id.ts';
import { recordAudit } from '../store/audit.ts';
import { findPlan, movePlan, type StoredPlan } from '../store/plans.ts';

export type PlanAct = { caller: WorkspaceCaller; requestId: string };
type Asked = { planId: string; planHash: Digest };

/** The plan that was read, as it stands now. Throws NOT_FOUND, PLAN_STALE where another one was read, and ILLEGAL_TRANSITION after its end. */
export async function getStandingPlan(
  context: Context,
  { planId, planHash }: Asked,
  act: PlanAct,
): Promise<StoredPlan> {
  const plan = await getPlan(context, planId, act);
  if (plan.planHash !== planHash)
    throw new AppError('PLAN_STALE', 'plan_hash is not that of the plan', { param: 'plan_hash' });
  const now = context.now();
  if (!mayStillBe(plan) || now.getTime() < plan.expiresAt.getTime()) return plan;
  await moveTo(context, plan, { to: 'expired' }, act);
  throw notIn({ ...plan, state: 'expired' });
}

/** A plan of the caller's workspace. Throws NOT_FOUND. */
export async function getPlan(
  { database }: Context,
  planId: string,
  { caller }: { caller: KeyedCaller },
): Promise<StoredPlan> {
  const plan = await findPlan(database.reader, caller.workspaceId, knownId(PlanId, planId));
  if (plan === null) throw new AppError('NOT_FOUND', 'There is no such object');
  return plan;
}

function mayStillBe({ state }: StoredPlan): boolean {
  return state === 'draft' || state === 'pending' || state === 'approved';
}

export function notIn({ state }: Pick<StoredPlan, 'state'>): AppError {
  return new AppError('ILLEGAL_TRANSITION', `The plan is ${state}`, { details: { state, allowed: [] } });
}

type Move = Parameters<typeof movePlan>[2];

/** Moves it with its audit entry. Throws ILLEGAL_TRANSITION where another request was faster. */
export async function moveTo(
  { transaction, now }: Context,
  plan: StoredPlan,
  move: Move,
  { caller, requestId }: PlanAct,
): Promise<StoredPlan> {
  const { workspaceId: scope, userId: actor } = caller;
  const verdict = move.to === 'rejected' || move.to === 'expired' ? ('deny' as const) : ('allow' as const);
  await transaction(async (tx) => {
    if (!(await movePlan(tx, plan, move))) throw notIn(plan);
    const details = { plan_hash: plan.planHash, approval_id: move.approvalId ?? plan.approvalId };
    const act = { action: `plan.${move.to}`, actor, verdict, subject: plan.id, requestId };
    await recordAudit(tx, { scope, ...act, details }, now());
  });
  const attempt = move.isAskedAnew === true ? plan.attempt + 1 : plan.attempt;
  return { ...plan, state: move.to, attempt, approvalId: move.approvalId ?? plan.approvalId };
}

/** The new state of the kernel's approval: of a pending plan, and of no other. */
export async function afterVotes(context: Context, plan: StoredPlan, act: PlanAct): Promise<StoredPlan> {
  if (plan.state !== 'pending' || plan.approvalId === null) return plan;
  const asked = context.kernel.as(act.caller.assertion, { listApprovals });
  const query = { approval_id: plan.approvalId };
  const { data } = await answerOf('kernel', () => asked.listApprovals({ query }));
  const to = stateAfter(data[0]?.state);
  return to === 'pending' ? plan : await moveTo(context, plan, { to }, act);
}

/** One that was used is that of a commit which died before it was written: it goes on under the key of its decision. */
function stateAfter(approval: string | undefined): 'pending' | 'approved' | 'rejected' | 'expired' {
  if (approval === 'pending') return 'pending';
  if (approval === 'approved' || approval === 'consumed') return 'approved';
  return approval === 'expired' ? 'expired' : 'rejected';
}

/**
 * Has the kernel decide the commit of this very plan. A refusal is recorded: with an approval request the plan is
 * pending, with a denial it is rejected. Throws APPROVAL_NEEDED, POLICY_DENIED and GOVERNANCE_UNAVAILABLE.
 */
export async function allowedNow(
  context: Context,
  plan: StoredPlan,
  { step, act }: { step: 'approve' | 'commit'; act: PlanAct },
) {
  const { id, planHash, attempt } = plan;
  const change = {
    ...({ action: 'plan.commit', object: 'plan', effectLevel: 'E3', key: `${id}.${step}.${attempt}` } as const),
    resource: `plan/${id}?hash=${planHash}`,
  };
  try {
    return await proposeChange(context, change, act.caller);
  } catch (error) {
    if (isAppError(error) && error.code === 'POLICY_DENIED')
      await moveTo(context, plan, { to: 'rejected', isAskedAnew: true }, act);
    if (isAppError(error) && error.code === 'APPROVAL_NEEDED') {
      const approvalId = ApprovalId.parse(error.details?.['approval_id']);
      await moveTo(context, plan, { to: 'pending', approvalId, isAskedAnew: true }, act);
    }
    throw error;
  }
}
