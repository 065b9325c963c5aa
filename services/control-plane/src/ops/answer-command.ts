import { AppError, RunId } from '@countersign/contracts';
import type { GivenCommand, OpsTarget } from '@countersign/contracts/control-plane';
import { listApprovals } from '@countersign/contracts/governance-kernel';
import { answer } from '@countersign/service-kit';
import type { Context } from '../context.ts';
import type { WorkspaceCaller } from '../guards.ts';
import { getCommand, type StoredCommand } from '../store/stops.ts';
import { commandView } from './command-view.ts';
import { deliverCommands } from './deliver-commands.ts';
import { openCallsIn } from './open-calls.ts';
import { wouldLoosen } from './give-stop.ts';
import { covers } from './target.ts';

/** As many questions as are looked through for runs that wait. */
const questionsMax = 200;

/** Delivers a command at once and says what became of it: 200 with what it found under way, or 202 while the kernel is away. */
export async function answerCommand(
  context: Context,
  given: StoredCommand,
  caller: WorkspaceCaller,
): Promise<ReturnType<typeof answer<GivenCommand>>> {
  await deliverCommands(context, given.scope).catch((error: unknown) =>
    context.log.warn('stop.undelivered', { command_id: given.id, error }),
  );
  const command = await getCommand(context.database.reader, given.id);
  if (command.state === 'outdated') throw wouldLoosen(command);
  if (command.state === 'refused')
    throw new AppError('INVALID_REQUEST', 'target names nothing that a call could have', { param: 'target' });
  const view = commandView(command);
  if (command.state === 'unconfirmed')
    return answer(202, { ...view, open_dispatches: null, more_open_dispatches: false, parked_runs: null });
  const [open, parked_runs] = await Promise.all([
    openCallsIn(context, command.scope),
    waitingRuns(context, view.target, caller),
  ]);
  return answer(200, { ...view, ...open, parked_runs });
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
