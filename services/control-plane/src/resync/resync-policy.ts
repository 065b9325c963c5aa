import { isAppError } from '@countersign/contracts';
import type { PolicyInForce } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { confirmInForce } from '../policy/confirm-in-force.ts';
import { getInForce } from '../policy/in-force.ts';
import { findActive, type StoredActivation } from '../store/policy-activations.ts';
import type { Looked } from './resync.ts';

/**
 * Confirms the policy that was activated here, so the kernel applies it again. Reports when another policy or none is
 * in force.
 */
export async function resyncPolicy(
  context: Pick<Context, 'database' | 'kernel' | 'now' | 'transaction'>,
  { workspaceId }: WorkspaceCaller,
): Promise<Looked> {
  const active = await findActive(context.database.reader, workspaceId);
  const before = await findInForce(context, workspaceId);
  if (active !== null && active.decided !== null)
    await confirmInForce(context, { ...active, decisionId: active.decided.decisionId });
  const inForce = await findInForce(context, workspaceId);
  if (inForce === null)
    return found(workspaceId, 'differs', 'The kernel has no policy for the workspace, and denies everything.');
  if (active === null || isSame(before, active)) return { checked: 1, found: [], is_whole: true };
  if (isSame(inForce, active)) return found(inForce.policy_hash, 'repaired', 'This policy is in force again.');
  return found(inForce.policy_hash, 'differs', `This policy is in force, but ${active.policyHash} was activated here.`);
}

function isSame(inForce: PolicyInForce | null, { policyHash, epoch }: StoredActivation): boolean {
  return inForce !== null && inForce.policy_hash === policyHash && inForce.epoch === epoch;
}

async function findInForce(context: Pick<Context, 'kernel'>, workspaceId: WorkspaceCaller['workspaceId']) {
  return await getInForce(context, workspaceId).catch((error: unknown) => {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  });
}

function found(ref: string, state: 'repaired' | 'differs', note: string): Looked {
  return { checked: 1, found: [{ ref, state, note }], is_whole: true };
}
