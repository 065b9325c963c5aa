import { agentOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import type { KernelError } from '../governance/kernel-error.ts';
import type { GovernedTool } from '../governance/kernel.ts';
import type { StepFacts } from '../runs/conversation.ts';
import { nextMove, type Move } from '../runs/next-move.ts';
import type { Tx } from '../store/database.ts';
import { isHeld } from '../store/lanes.ts';
import { releaseToLane, type Lease } from '../store/leases.ts';
import { recordViolation } from '../audit/record-violation.ts';
import { beginAgain, beginModelCall, beginToolCall, stillOurs, type BegunStep } from './begin-step.ts';
import { changeRun } from '../run-moves/change-run.ts';
import { failureOf, mayHaveBeenMade, submitStep } from './submit-step.ts';
import { loadRun, type LoadedRun } from './load-run.ts';
import { putSettingsThrough } from '../settings/put-settings-through.ts';
import { refuseCall } from './refuse-call.ts';
import { settleStep } from './settle-step.ts';

/**
 * The state that a worker keeps while it works on a run: the tools, the settled steps, and the signal that ends the
 * work.
 */
type RunHold = { listTools(): Promise<GovernedTool[]>; signal: AbortSignal; settled: readonly StepFacts[] };

/** Makes one move of a leased run. `left`: this worker has nothing more to do. */
export async function advanceRun(context: Context, lease: Lease, hold: RunHold): Promise<'moved' | 'left'> {
  const loaded = await loadRun(context, lease, hold.settled);
  if (loaded === null) return 'left';
  hold.settled = loaded.steps.filter(({ state }) => state === 'settled');
  const move = nextMove(loaded, loaded.steps);
  switch (move.kind) {
    case 'repeat':
      return repeatStep(context, lease, loaded, { step: move.step, signal: hold.signal });
    case 'call_model':
      return beginStep(context, lease, loaded, hold, async () =>
        beginModelCall(context, lease, loaded, await hold.listTools()),
      );
    case 'call_tool':
      return beginStep(context, lease, loaded, hold, () => beginToolCall(context, lease, loaded, move));
    case 'refuse_call':
      await refuseCall(context, lease, loaded, move);
      return 'moved';
    case 'end':
      await endRun(context, lease, move);
      return 'left';
    case 'leave':
      return 'left';
    default:
      return move satisfies never;
  }
}

/** Begins a new step, unless the lane is held or the kernel has not confirmed the settings. */
async function beginStep(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  { signal }: RunHold,
  begin: () => Promise<BegunStep>,
): Promise<'moved' | 'left'> {
  // Checked before the kernel is called: a run in a held lane waits, and does not fail with the kernel.
  if (await isHeld(context.database.reader, lease.workspaceId)) return leaveToLane(context, lease);
  try {
    await putSettingsThrough(context, lease, loaded, signal);
    return await submitAndSettle(context, lease, loaded, await begin(), signal);
  } catch (thrown) {
    await failRun(context, lease, await failureOf(context, thrown));
    return 'left';
  }
}

/** Repeats a stored step. A failure to deliver the settings is recorded as the result of the step. */
async function repeatStep(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  { step, signal }: { step: StepFacts; signal: AbortSignal },
): Promise<'moved' | 'left'> {
  try {
    await putSettingsThrough(context, lease, loaded, signal);
  } catch (thrown) {
    const result = { kind: 'failed', error: mayHaveBeenMade(await failureOf(context, thrown)) } as const;
    return (await settleStep(context, lease, { loaded, step, result })) ? 'moved' : 'left';
  }
  return submitAndSettle(context, lease, loaded, await beginAgain(context, lease, loaded, step), signal);
}

async function submitAndSettle(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  step: BegunStep,
  signal: AbortSignal,
): Promise<'moved' | 'left'> {
  if (step === null) return 'left';
  if (step === 'settings_changed') return 'moved';
  if (step === 'lane_held') return leaveToLane(context, lease);
  const result = await submitStep(context, lease, step, signal);
  return (await settleStep(context, lease, { loaded, step, result })) ? 'moved' : 'left';
}

/** Releases the run until its lane is open. Then the run continues from its last settled step. */
async function leaveToLane({ transaction }: Context, lease: Lease): Promise<'left'> {
  await transaction((tx) => releaseToLane(tx, lease));
  return 'left';
}

/** Fails the run. No step is recorded, since nothing was submitted. */
async function failRun(context: Context, lease: Lease, { kind, code, message }: KernelError): Promise<void> {
  await changeLeasedRun(context, lease, {
    to: 'failed',
    outcome: kind === 'unreachable' ? 'unreachable/degraded' : null,
    error: { code, message },
  });
}

async function endRun(context: Context, lease: Lease, { status, result, refusal }: Ending): Promise<void> {
  const change = { to: status, outcome: refusal === null ? 'allow' : 'deny', result, error: refusal } as const;
  await changeLeasedRun(context, lease, change, (tx) => recordRefusal(tx, context, lease, refusal));
}

/** Records a violation when the run ended because its next step would exceed a limit of the workspace. */
async function recordRefusal(tx: Tx, context: Context, lease: Lease, refusal: Ending['refusal']): Promise<void> {
  if (refusal === null) return;
  const { workspaceId, taskId, runId } = lease;
  const noDecision = { stepId: null, tool: null, decisionId: null, receiptId: null };
  const why = { source: 'workspace', reasonCode: refusal.code, reason: refusal.message } as const;
  await recordViolation(tx, context, { workspaceId, taskId, runId, ...noDecision, ...why });
}

type Ending = Extract<Move, { kind: 'end' }>;
type Change = Omit<Parameters<typeof changeRun>[3], 'from' | 'actor'>;

async function changeLeasedRun(
  context: Context,
  lease: Lease,
  change: Change,
  alsoRecord: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return;
    const ended = { ...change, from: ['running'], actor: agentOf(lease.workspaceId) } as const;
    if (await changeRun(tx, context, lease, ended)) await alsoRecord(tx);
  });
}
