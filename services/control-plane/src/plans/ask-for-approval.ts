import { isAppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { findPlan, type StoredPlan } from '../store/plans.ts';
import { afterVotes, allowedNow, moveTo, notIn, type PlanAct } from './plan-moves.ts';

/**
 * The approved plan, or the plan that waits for a vote in the kernel. Throws POLICY_DENIED, GOVERNANCE_UNAVAILABLE, and
 * ILLEGAL_TRANSITION for a plan that is committed, rejected or expired.
 */
export async function askForApproval(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  plan: StoredPlan,
  act: PlanAct,
): Promise<StoredPlan> {
  const current = await afterVotes(context, plan, act);
  if (current.state === 'approved' || current.state === 'pending') return current;
  if (current.state !== 'draft') throw notIn(current);
  try {
    await allowedNow(context, current, { step: 'approve', act });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'APPROVAL_NEEDED') throw error;
    const pending = await findPlan(context.database.reader, plan.workspaceId, plan.id);
    if (pending === null) throw error;
    return pending;
  }
  return await moveTo(context, current, { to: 'approved' }, act);
}
