import { AppError, RunId } from '@countersign/contracts';
import type { GivenCommand, OpsTarget } from '@countersign/contracts/control-plane';
import { listApprovals, listBoundaryTargets } from '@countersign/contracts/governance-kernel';
import { clockSkewMaxMs } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import type { Shown } from '../handle-once.ts';
import { getCommand, type StoredCommand } from '../store/stops.ts';
import { commandView } from './command-view.ts';
import { deliverCommands } from './deliver-commands.ts';
import { knownTarget } from './known-target.ts';
import { openCallsIn } from './open-calls.ts';
import { endedUndelivered, wouldLoosen } from './give-stop.ts';
import { covers } from './target.ts';

/** The most questions that are searched for waiting runs. */
const questionsMax = 200;

/** Delivers a command at once and says what became of it: 200 with what it found under way, or 202 while the kernel is away. */
export async function answerCommand(
  context: Context,
  given: StoredCommand,
  caller: WorkspaceCaller,
): Promise<Shown<GivenCommand>> {
  await deliverCommands(context, given.scope).catch((error: unknown) =>
    context.log.warn('stop.undelivered', { command_id: given.id, error }),
  );
  const command = await getCommand(context.database.reader, given.id);
  if (command.state === 'outdated')
    throw (await hasEnded(context, command)) ? endedUndelivered(command) : wouldLoosen(command);
  if (command.state === 'refused')
    throw new AppError('INVALID_REQUEST', 'target names nothing that a call could have', { param: 'target' });
  if (command.state === 'unconfirmed') return undelivered(command);
  const view = commandView(command);
  const [open, parked_runs, known] = await Promise.all([
    openCallsIn(context, command.scope),
    waitingRuns(context, view.target, caller),
    knownIn(context, view.target, caller),
  ]);
  return { status: 200, body: { ...view, ...open, parked_runs, ...known } };
}

/** The answer about a command that the kernel has not confirmed. */
export function undelivered(command: StoredCommand): Shown<GivenCommand> {
  const unread = { open_dispatches: null, more_open_dispatches: false, parked_runs: null };
  return { status: 202, body: { ...commandView(command), ...unread, ...unknown } };
}

const unknown = { known: null, calls_last_7d: null };

/** A misspelt name stops nothing that calls, so the answer states whether the name is known. */
async function knownIn({ kernel }: Context, target: OpsTarget, { assertion, workspaceId }: WorkspaceCaller) {
  try {
    const { body } = await kernel.as(assertion, { listBoundaryTargets }).listBoundaryTargets();
    return knownTarget(target, body, workspaceId);
  } catch {
    return unknown; // The stop applies, whatever is known of its name.
  }
}

/** Uses the clock of the kernel, which may be ahead of the database's by as much as its guard accepts. */
async function hasEnded({ database }: Context, { expiresAt }: StoredCommand): Promise<boolean> {
  return expiresAt !== null && expiresAt.getTime() <= (await database.nowMs()) + clockSkewMaxMs;
}

/** Runs whose question the kernel holds for a call within the target: they go on when it is decided, and not through the stop. */
async function waitingRuns({ kernel }: Context, target: OpsTarget, { assertion }: WorkspaceCaller) {
  try {
    const query = { state: 'pending', limit: questionsMax } as const;
    const { body } = await kernel.as(assertion, { listApprovals }).listApprovals({ query });
    const sessions = body.data.filter((approval) => covers(target, approval)).map(({ session_id: id }) => id);
    return [...new Set(sessions)].flatMap((id) => RunId.safeParse(id).data ?? []);
  } catch {
    return null; // The stop holds; who waits behind it is told by the next GET.
  }
}
