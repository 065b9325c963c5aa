import { agentOf, type EventOf } from '@countersign/contracts';
import type { runEnded } from '@countersign/contracts/gateway';
import type { kernelApprovalRequested } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { hasEnded } from '../store/runs.ts';

type Ended = EventOf<typeof runEnded>['data'];
type Requested = EventOf<typeof kernelApprovalRequested>['data'];

/** Shown with the approval in the kernel. */
const runIsOver = 'The run ended before it used this approval';

/** A run ended: what it requested at the kernel can no longer be approved or used. Throws KernelError: repeat it later. */
export async function withdrawQuestions(
  { kernel }: Pick<Context, 'kernel'>,
  { workspaceId, runId: sessionId, status }: Ended,
): Promise<void> {
  // A completed run has used each approval that it waited for.
  if (kernel === null || status === 'completed') return;
  await kernel.withdrawApprovals({ workspaceId, sessionId, reason: runIsOver });
}

/**
 * A call of a run requested an approval. If the run ended in the same moment, its end may have been handled before the request existed, so
 * the request is withdrawn here. Throws KernelError: repeat it later.
 */
export async function withdrawLateQuestion(context: Context, requested: Requested): Promise<void> {
  const { tenant_id: workspaceId, session_id: runId, requested_by: requester } = requested;
  if (context.kernel === null || requester !== agentOf(workspaceId)) return;
  if (!(await hasEnded(context.database.reader, { workspaceId, runId }))) return;
  await context.kernel.withdrawApprovals({ workspaceId, sessionId: runId, reason: runIsOver });
}
