import { agentOf, type EventOf } from '@countersign/contracts';
import type { runEnded } from '@countersign/contracts/gateway';
import type { kernelApprovalRequested } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import { hasEnded } from '../store/runs.ts';

type Ended = EventOf<typeof runEnded>['data'];
type Requested = EventOf<typeof kernelApprovalRequested>['data'];

/** The reason for a withdrawal, which the kernel shows with the approval. */
const runIsOver = 'The run ended before it used this approval';

/**
 * Withdraws the approval requests of a run that has ended without completing, so that they cannot be approved or used.
 * After a KernelError, the call must be repeated.
 */
export async function withdrawQuestions(
  { kernel }: Pick<Context, 'kernel'>,
  { workspaceId, runId: sessionId, status }: Ended,
): Promise<void> {
  // A completed run has used each approval that it waited for.
  if (kernel === null || status === 'completed') return;
  await kernel.withdrawApprovals({ workspaceId, sessionId, reason: runIsOver });
}

/**
 * Withdraws the approval requests of a run that ended at about the same time. The end of the run may have been handled
 * before the request existed. After a KernelError, the call must be repeated.
 */
export async function withdrawLateQuestion(
  context: Pick<Context, 'database' | 'kernel'>,
  requested: Requested,
): Promise<void> {
  const { tenant_id: workspaceId, session_id: runId, requested_by: requester } = requested;
  if (context.kernel === null || requester !== agentOf(workspaceId)) return;
  if (!(await hasEnded(context.database.reader, { workspaceId, runId }))) return;
  await context.kernel.withdrawApprovals({ workspaceId, sessionId: runId, reason: runIsOver });
}
