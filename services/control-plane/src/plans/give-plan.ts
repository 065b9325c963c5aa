import { AppError } from '@countersign/contracts';
import type { DecisionReply } from '@countersign/contracts/governance-kernel';
import { workOutRadius } from '../blast-radius/work-out-radius.ts';
import type { Context } from '../context.ts';
import { writeStop } from '../ops/give-stop.ts';
import { scopeOf } from '../ops/target.ts';
import { recordAudit } from '../store/audit.ts';
import { lockPlan, movePlan, type StoredPlan } from '../store/plans.ts';
import { afterVotes, allowedNow, notIn, type PlanAct } from './plan-moves.ts';
import { furtherThan } from './further-than.ts';
import { requireTighter } from './require-tighter.ts';

type Deps = Pick<Context, 'kernel' | 'keyRing' | 'radiusTurns' | 'now' | 'databaseNow' | 'transaction'>;
type GivePlanDeps = Pick<Context, 'kernel' | 'keyRing' | 'radiusTurns' | 'now' | 'transaction'>;

/**
 * Stores the commands of all stops of a plan, once. A committed plan is unchanged. The process may crash after any
 * step, and a repeated request continues under the same decision. Throws PLAN_STALE, ILLEGAL_TRANSITION,
 * APPROVAL_NEEDED, POLICY_DENIED and GOVERNANCE_UNAVAILABLE.
 */
export async function givePlan(context: Deps, plan: StoredPlan, act: PlanAct): Promise<void> {
  const current = await afterVotes(context, plan, act);
  if (current.state === 'committed') return;
  if (current.state !== 'approved') throw notIn(current);
  await requireTighter(context, current.steps, current.workspaceId);
  await requireNoFurther(context, current, act);
  const decision = await allowedNow(context, current, { step: 'commit', act });
  await writeAll(context, current, { decision, act });
}

async function requireNoFurther(
  context: GivePlanDeps,
  plan: StoredPlan,
  { caller, requestId }: PlanAct,
): Promise<void> {
  const now = await workOutRadius(context, plan.steps, caller);
  const further = furtherThan(plan.dryRun, now);
  if (further === null) return;
  const { workspaceId: scope, userId: actor } = caller;
  const act = { action: 'plan.stale', actor, verdict: 'deny', subject: plan.id, requestId } as const;
  const details = { plan_hash: plan.planHash, tree_size: now.tree_size };
  await context.transaction((tx) => recordAudit(tx, { scope, ...act, details }, context.now()));
  throw new AppError('PLAN_STALE', 'The plan now affects more than what was approved. Request a new approval', {
    details: { further },
  });
}

type Allowed = { decision: DecisionReply; act: PlanAct };

/** Writes all commands, the plan and the audit entries atomically. */
async function writeAll(
  context: Pick<Context, 'databaseNow' | 'transaction'>,
  plan: StoredPlan,
  { decision, act }: Allowed,
): Promise<void> {
  const { caller, requestId } = act;
  const { decision_id: decisionId, receipt_id: receiptId } = decision;
  await context.transaction(async (tx) => {
    const locked = await lockPlan(tx, plan.id);
    if (locked.state === 'committed') return;
    const at = await context.databaseNow(tx); // the ends of the stops are computed from this time
    if (locked.state !== 'approved') throw notIn(locked);
    if (at.getTime() >= locked.expiresAt.getTime()) throw notIn({ state: 'expired' });
    // Scopes are locked in one order, so that two plans cannot deadlock.
    const scoped = plan.steps.map((step) => ({ step, scope: scopeOf(step.target, plan.workspaceId) }));
    const inOrder = scoped.sort((left, right) => (left.scope < right.scope ? -1 : 1));
    for (const { step } of inOrder)
      await writeStop(tx, step.kind, step, {
        caller,
        requestId,
        givenAt: at,
        planId: plan.id,
        incidentId: plan.incidentId,
      });
    const committed = { by: caller.userId, at };
    await movePlan(tx, locked, { to: 'committed', decided: { decisionId, receiptId }, committed });
    const details = { plan_hash: plan.planHash, decision_id: decisionId, receipt_id: receiptId };
    const statement = { action: 'plan.committed', actor: caller.userId, verdict: 'allow', subject: plan.id } as const;
    await recordAudit(tx, { scope: plan.workspaceId, ...statement, details, requestId }, at);
  });
}
