import { isAppError } from '@countersign/contracts';
import { getOps, unconfirmedMax } from '@countersign/contracts/control-plane';
import type { Context } from '../../context.ts';
import { handleWorkspace } from '../../handle.ts';
import { commandView } from '../../ops/command-view.ts';
import { standingStops } from '../../ops/standing-stops.ts';
import { listUnconfirmed } from '../../store/stops.ts';

/** The state of an unreachable kernel is unknown, so nothing is shown as in force. */
const unknown = { boundary: null, fences: [], more_fences: false };

export const getOpsRoute = (context: Context) =>
  handleWorkspace(getOps)(async ({ caller }) => {
    const { workspaceId } = caller;
    // Read before the state of the kernel: a command that the kernel confirms in between is shown twice, rather than
    // not at all.
    const waiting = await listUnconfirmed(context.database.reader, workspaceId, unconfirmedMax);
    const current = await standingStops(context, caller).catch((error: unknown) => {
      if (isAppError(error) && error.code === 'GOVERNANCE_UNAVAILABLE') return null;
      throw error;
    });
    return {
      workspace_id: workspaceId,
      kernel: current === null ? ('unreachable' as const) : ('ok' as const),
      ...(current ?? unknown),
      unconfirmed: waiting.map(commandView),
    };
  });
