import { AppError, ApprovalId, isAppError, PlanId, type Digest } from '@countersign/contracts';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import { proposeChange } from '../changes/propose-change.ts';
import type { Context } from '../context.ts';
import type { KeyedCaller, WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { knownId } from '../siblings/known-id.ts';
import { recordAudit } from '../store/audit.ts';
import { findPlan, movePlan, type StoredPlan } from '../store/plans.ts';

type Deps = Pick<Context, 'kernel' | 'now' | 'transaction'>;

export type PlanAct = { caller: WorkspaceCaller; requestId: string };
type Input = { planId: string; planHash: Digest };

/**
 * The plan that the caller read. Throws NOT_FOUND, and PLAN_STALE for a different plan_hash. An open plan whose end has
 * passed becomes expired, and ILLEGAL_TRANSITION is thrown.
 */
export async function getStandingPlan(
  context: Pick<Context, 'database' | 'now' | 'transaction'>,
  { planId, planHash }: Input,
  act: PlanAct,
): Promise<StoredPlan> {
  const plan = await getPlan(context, planId, act);
  if (plan.planHash !== planHash)
    throw new AppError('PLAN_STALE', 'plan_hash differs from the hash of the plan. Read the plan again', {
      param: 'plan_hash',
    });
  const now = context.now();
  if (!mayStillBe(plan) || now.getTime() < plan.expiresAt.getTime()) return plan;
  await moveTo(context, plan, { to: 'expired' }, act);
  throw notIn({ ...plan, state: 'expired' });
}

/** A plan of the caller's workspace. Throws NOT_FOUND. */
export async function getPlan(
  { database }: Pick<Context, 'database'>,
  planId: string,
  { caller }: { caller: KeyedCaller },
): Promise<StoredPlan> {
  const plan = await findPlan(database.reader, caller.workspaceId, knownId(PlanId, planId));
  if (plan === null)
    throw new AppError(
      'NOT_FOUND',
      'This object does not exist, or you have no access to it. Check its ID and the workspace',
    );
  return plan;
}

function mayStillBe({ state }: StoredPlan): boolean {
  return state === 'draft' || state === 'pending' || state === 'approved';
}

export function notIn({ state }: Pick<StoredPlan, 'state'>): AppError {
  return new AppError('ILLEGAL_TRANSITION', `The plan is ${state}`, { details: { state, allowed: [] } });
}

type Move = Parameters<typeof movePlan>[2];

/** Moves a plan and records the audit entry. Throws ILLEGAL_TRANSITION when another request was first. */
export async function moveTo(
  { transaction, now }: Pick<Context, 'now' | 'transaction'>,
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

/** Updates a pending plan by the state of its approval at the kernel. Other plans are unchanged. */
export async function afterVotes(context: Deps, plan: StoredPlan, act: PlanAct): Promise<StoredPlan> {
  if (plan.state !== 'pending' || plan.approvalId === null) return plan;
  const client = context.kernel.as(act.caller.assertion, { listApprovals });
  const query = { approval_id: plan.approvalId };
  const { data } = await answerOf('kernel', () => client.listApprovals({ query }));
  const to = stateAfter(data[0]?.state);
  return to === 'pending' ? plan : await moveTo(context, plan, { to }, act);
}

/**
 * The state of a plan after a state of its approval. A consumed approval counts as approved, because its commit was
 * interrupted before it was stored. A repeated commit has the same key and decision.
 */
function stateAfter(approval: string | undefined): 'pending' | 'approved' | 'rejected' | 'expired' {
  if (approval === 'pending') return 'pending';
  if (approval === 'approved' || approval === 'consumed') return 'approved';
  return approval === 'expired' ? 'expired' : 'rejected';
}

/**
 * Requests a decision of the kernel about the commit of this plan. A refusal is recorded: the plan becomes pending
 * with an approval request, or rejected with a denial. Throws APPROVAL_NEEDED, POLICY_DENIED and
 * GOVERNANCE_UNAVAILABLE.
 */
export async function allowedNow(
  context: Deps,
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
