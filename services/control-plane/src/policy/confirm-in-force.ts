import { isAppError, type DecisionId, type WorkspaceId } from '@countersign/contracts';
import { confirmActivation } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { noteConfirmed, noteReplaced } from '../store/policy-activations.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

type InForce = { id: string; workspaceId: WorkspaceId; decisionId: DecisionId };

/**
 * Has the kernel sign that a policy is still the active one. Another active policy is kept fresh by its own worker.
 * Throws GOVERNANCE_UNAVAILABLE.
 */
export async function confirmInForce(
  { kernel, transaction, now }: Pick<Context, 'kernel' | 'transaction' | 'now'>,
  { id, workspaceId, decisionId }: InForce,
): Promise<void> {
  const asked = kernel.own({ confirmActivation });
  const input = { params: { tenant: tenantOf(workspaceId) }, body: { decision_id: decisionId } };
  try {
    await answerOf('kernel', () => asked.confirmActivation(input));
    await transaction((tx) => noteConfirmed(tx, id, now()));
  } catch (error) {
    if (!isAppError(error) || error.code !== 'DECISION_MISMATCH') throw error;
    await transaction((tx) => noteReplaced(tx, id));
  }
}
