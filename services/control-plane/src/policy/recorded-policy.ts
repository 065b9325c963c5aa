import { isAppError, type Digest, type WorkspaceId } from '@countersign/contracts';
import { getPolicyBundle } from '@countersign/contracts/governance-kernel';
import type { CompiledPolicy } from '@countersign/policy';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { compileAgain } from './compile-draft.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

/**
 * A policy under which decisions of the workspace were made. `null` when the kernel no longer has it, or its hash
 * differs.
 */
export async function findRecordedPolicy(
  { kernel }: Pick<Context, 'kernel'>,
  workspaceId: WorkspaceId,
  policy_hash: Digest,
): Promise<CompiledPolicy | null> {
  const params = { tenant: tenantOf(workspaceId), policy_hash };
  const client = kernel.own({ getPolicyBundle });
  try {
    const { bundle } = await answerOf('kernel', () => client.getPolicyBundle({ params }));
    const policy = await compileAgain(bundle);
    return policy.hash === policy_hash ? policy : null;
  } catch (error) {
    if (isAppError(error) && error.code === 'NOT_FOUND') return null;
    throw error;
  }
}
