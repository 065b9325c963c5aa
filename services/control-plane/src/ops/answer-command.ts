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

type Deps = Pick<Context, 'log' | 'database' | 'kernel' | 'now' | 'transaction'>;
type AnswerCommandDeps = Pick<Context, 'kernel'>;

/** The most approval requests that are searched for waiting runs. */
const questionsMax = 200;

/**
 * Delivers a command at once and returns the outcome: 200 with the open calls, or 202 while the kernel has not
 * confirmed it. Throws END_PASSED, ILLEGAL_TRANSITION and INVALID_REQUEST for a command that cannot apply.
 */
export async function answerCommand(
  context: Deps,
  storedCommand: StoredCommand,
  caller: WorkspaceCaller,
): Promise<Shown<GivenCommand>> {
  await deliverCommands(context, storedCommand.scope).catch((error: unknown) =>
    context.log.warn('stop.undelivered', { command_id: storedCommand.id, error }),
  );
  const command = await getCommand(context.database.reader, storedCommand.id);
  if (command.state === 'outdated')
    throw (await hasEnded(context, command)) ? endedUndelivered(command) : wouldLoosen(command);
  if (command.state === 'refused')
    throw new AppError('INVALID_REQUEST', 'target matches no possible call. Check its spelling', { param: 'target' });
  if (command.state === 'unconfirmed') return undelivered(command);
  const view = commandView(command);
  const [open, parked_runs, existing] = await Promise.all([
    openCallsIn(context, command.scope),
    waitingRuns(context, view.target, caller),
    knownIn(context, view.target, caller),
  ]);
  return { status: 200, body: { ...view, ...open, parked_runs, ...existing } };
}

/** The answer for a command that the kernel has not confirmed. */
export function undelivered(command: StoredCommand): Shown<GivenCommand> {
  const unread = { open_dispatches: null, more_open_dispatches: false, parked_runs: null };
  return { status: 202, body: { ...commandView(command), ...unread, ...unknown } };
}

const unknown = { known: null, calls_last_7d: null };

/** A misspelt name stops no call, so the answer states whether the name is known. */
async function knownIn({ kernel }: AnswerCommandDeps, target: OpsTarget, { assertion, workspaceId }: WorkspaceCaller) {
  try {
    const { body } = await kernel.as(assertion, { listBoundaryTargets }).listBoundaryTargets();
    return knownTarget(target, body, workspaceId);
  } catch {
    return unknown; // The stop applies whether or not its name is known.
  }
}

/**
 * Whether the stop may have ended by the clock of the kernel, which may be ahead of the database clock by at most
 * `clockSkewMaxMs`.
 */
async function hasEnded({ database }: Pick<Context, 'database'>, { expiresAt }: StoredCommand): Promise<boolean> {
  return expiresAt !== null && expiresAt.getTime() <= (await database.nowMs()) + clockSkewMaxMs;
}

/**
 * Runs whose approval request at the kernel is for a call within the target. They continue when it is decided, unless
 * the stop blocks them.
 */
async function waitingRuns({ kernel }: AnswerCommandDeps, target: OpsTarget, { assertion }: WorkspaceCaller) {
  try {
    const query = { state: 'pending', limit: questionsMax } as const;
    const { body } = await kernel.as(assertion, { listApprovals }).listApprovals({ query });
    const sessions = body.data.filter((approval) => covers(target, approval)).map(({ session_id: id }) => id);
    return [...new Set(sessions)].flatMap((id) => RunId.safeParse(id).data ?? []);
  } catch {
    return null; // The stop applies anyway. Repeating it reads the runs again.
  }
}
