import { isAppError } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { findPlan, type StoredPlan } from '../store/plans.ts';
import { afterVotes, allowedNow, moveTo, notIn, type PlanAct } from './plan-moves.ts';

/**
 * Approved, or pending until the kernel has a vote. Throws POLICY_DENIED, and ILLEGAL_TRANSITION for a plan that is
 * over.
 */
export async function askForApproval(context: Context, plan: StoredPlan, act: PlanAct): Promise<StoredPlan> {
  const standing = await afterVotes(context, plan, act);
  if (standing.state === 'approved' || standing.state === 'pending') return standing;
  if (standing.state !== 'draft') throw notIn(standing);
  try {
    await allowedNow(context, standing, { step: 'approve', act });
  } catch (error) {
    if (!isAppError(error) || error.code !== 'APPROVAL_NEEDED') throw error;
    const pending = await findPlan(context.database.reader, plan.workspaceId, plan.id);
    if (pending === null) throw error;
    return pending;
  }
  return await moveTo(context, standing, { to: 'approved' }, act);
}
