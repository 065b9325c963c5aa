import { isAppError, type DecisionId, type WorkspaceId } from '@countersign/contracts';
import { confirmActivation } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { noteConfirmed, noteReplaced } from '../store/policy-activations.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

type InForce = { id: string; workspaceId: WorkspaceId; decisionId: DecisionId };

/**
 * Requests a signed confirmation from the kernel that a policy is still active. When another policy is active, records
 * that this one was replaced. Throws GOVERNANCE_UNAVAILABLE.
 */
export async function confirmInForce(
  { kernel, transaction, now }: Pick<Context, 'kernel' | 'transaction' | 'now'>,
  { id, workspaceId, decisionId }: InForce,
): Promise<void> {
  const client = kernel.own({ confirmActivation });
  const input = { params: { tenant: tenantOf(workspaceId) }, body: { decision_id: decisionId } };
  try {
    await answerOf('kernel', () => client.confirmActivation(input));
    await transaction((tx) => noteConfirmed(tx, id, now()));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'DECISION_MISMATCH') throw error;
    await transaction((tx) => noteReplaced(tx, id));
  }
}
