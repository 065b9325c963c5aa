import type { WorkspaceId } from '@countersign/contracts';
import { StopKind, type StandingFence } from '@countersign/contracts/control-plane';
import { getBoundaryStatus, type BoundaryStatus, type Fence } from '@countersign/contracts/governance-kernel';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { answerOf } from '../siblings/answer-of.ts';
import { openCallsIn, untold } from './open-calls.ts';
import { targetOf } from './target.ts';

/** The most fences whose open calls are read. For any other fence, a repeated stop returns the open calls. */
const lookedIntoMax = 20;

type CurrentState = {
  boundary: Pick<BoundaryStatus, 'status' | 'mode' | 'last_proven_fail_closed'> & {
    open_dispatches: number;
    pending_approvals: number;
  };
  fences: StandingFence[];
  more_fences: boolean;
};

/** The stops that the kernel reports for the workspace. Throws GOVERNANCE_UNAVAILABLE. */
export async function standingStops(
  context: Pick<Context, 'log' | 'kernel'>,
  caller: WorkspaceCaller,
): Promise<CurrentState> {
  const client = context.kernel.as(caller.assertion, { getBoundaryStatus });
  const { status, mode, last_proven_fail_closed, counts, fences, more_fences } = await answerOf('kernel', () =>
    client.getBoundaryStatus(),
  );
  const { open_dispatches, pending_approvals } = counts;
  const own = new Set(
    fences.filter(({ scope }) => targetOf(scope, caller.workspaceId) !== null).slice(0, lookedIntoMax),
  );
  const views = fences.map(async (fence) => ({
    ...fenceView(fence, caller.workspaceId),
    // Open calls of other workspaces are omitted.
    ...(own.has(fence) ? await openCallsIn(context, fence.scope) : untold),
  }));
  return {
    boundary: { status, mode, last_proven_fail_closed, open_dispatches, pending_approvals },
    fences: await Promise.all(views),
    more_fences,
  };
}

function fenceView(fence: Fence, workspaceId: WorkspaceId): Omit<StandingFence, keyof typeof untold> {
  return {
    scope: fence.scope,
    target: targetOf(fence.scope, workspaceId),
    kind: StopKind.parse(fence.kind),
    epoch: fence.epoch,
    reason: fence.reason,
    limit: fence.call_limit,
    window_seconds: fence.window_seconds,
    set_by: fence.set_by,
    effective_at: fence.effective_at,
    expires_at: fence.expires_at,
  };
}
