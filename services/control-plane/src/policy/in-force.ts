import { getPolicyInForce, type PolicyInForce } from '@countersign/contracts/governance-kernel';
import type { WorkspaceId } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { tenantOf } from '../siblings/tenant-of.ts';

/** The active policy of the workspace. Throws NOT_FOUND and GOVERNANCE_UNAVAILABLE. */
export function getInForce({ kernel }: Pick<Context, 'kernel'>, workspaceId: WorkspaceId): Promise<PolicyInForce> {
  const client = kernel.own({ getPolicyInForce });
  return answerOf('kernel', () => client.getPolicyInForce({ params: { tenant: tenantOf(workspaceId) } }));
}
