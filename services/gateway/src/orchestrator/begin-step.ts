import { canonicalize } from '@countersign/crypto';
import type { Context } from '../context.ts';
import { agentOf } from '../governance/governed-step.ts';
import type { GovernedTool } from '../governance/kernel.ts';
import { conversationOf, type StepFacts } from '../runs/conversation.ts';
import type { Move } from '../runs/next-move.ts';
import { budgetMicros, monthOf, worstCaseMicros } from '../runs/spend.ts';
import { functionNameOf } from '../runs/tool-names.ts';
import type { Tx } from '../store/database.ts';
import { lockLeasedRun, type Lease } from '../store/leases.ts';
import { reserveSpend } from '../store/spend.ts';
import { dropGrantedStep, insertStep, reserveStep, type NewStep, type Reservation } from '../store/steps.ts';
import { lockTask } from '../store/tasks.ts';
import { changeRun } from './change-run.ts';
import type { LoadedRun } from './load-run.ts';

/** Null: the run is no longer ours to move. */
export type BegunStep = StepFacts | 'out_of_budget' | null;

/** Commits the next model call before it is made, with the money that it can cost at most. */
export async function beginModelCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  tools: readonly GovernedTool[],
): Promise<BegunStep> {
  const request = modelRequest(context, loaded, tools);
  return context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return null;
    const reservation = await reserve(tx, context, loaded, request);
    if (reservation === null) {
      await changeRun(tx, context, lease, outOfBudget(lease));
      return 'out_of_budget';
    }
    const call = { kind: 'model_call', tool: null, callId: null, args: request, reservation } as const;
    return insertStep(tx, { ...stepOf(lease, loaded), ...call }, context.now());
  });
}

/**
 * A step that is put to the kernel again. A model call gave its money back when it was parked, so the money is set aside again,
 * in the current month, before the call is repeated under its approval.
 */
export async function beginAgain(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  step: StepFacts,
): Promise<BegunStep> {
  if (step.kind !== 'model_call' || step.reservedMonth !== null) return step;
  return context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return null;
    const reservation = await reserve(tx, context, loaded, step.args);
    if (reservation === null) {
      const { error } = outOfBudget(lease);
      await dropGrantedStep(tx, step.id, error, context.now());
      await changeRun(tx, context, lease, outOfBudget(lease));
      return 'out_of_budget';
    }
    await reserveStep(tx, step.id, reservation);
    return { ...step, reservedMicros: reservation.micros, reservedMonth: reservation.month };
  });
}

/** Sets aside what a call can cost at most. Null when the month's budget cannot carry it. */
async function reserve(
  tx: Tx,
  context: Context,
  { task, settings }: LoadedRun,
  request: string,
): Promise<Reservation | null> {
  const { outputTokensMax, prices } = context.config.runs;
  const micros = worstCaseMicros(prices, { bytes: Buffer.byteLength(request), outputTokensMax });
  const month = monthOf(context.now());
  const budget = budgetMicros(settings.budgetConfig.monthlyLlmBudget);
  const place = { workspaceId: task.workspaceId, month };
  return (await reserveSpend(tx, place, { micros, budgetMicros: budget })) ? { micros, month } : null;
}

/** Commits the next tool call before it is submitted. */
export async function beginToolCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  move: Extract<Move, { kind: 'call_tool' }>,
): Promise<BegunStep> {
  return context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return null;
    const { tool, callId, proposal } = move;
    const step = { ...stepOf(lease, loaded), kind: 'tool_call', tool, callId, proposal } as const;
    return insertStep(tx, { ...step, args: canonicalize(move.args) }, context.now());
  });
}

/** Locks task and run, in this order, and tells whether the lease still counts for a running run. */
export async function stillOurs(tx: Tx, lease: Lease): Promise<boolean> {
  await lockTask(tx, lease.workspaceId, lease.taskId);
  const run = await lockLeasedRun(tx, lease);
  return run !== null && run.status === 'running';
}

export function stepOf(lease: Lease, loaded: LoadedRun): Pick<NewStep, 'workspaceId' | 'runId' | 'seq'> {
  return { workspaceId: lease.workspaceId, runId: lease.runId, seq: loaded.steps.length + 1 };
}

function modelRequest(context: Context, { task, steps, settings }: LoadedRun, tools: readonly GovernedTool[]): string {
  const { model, temperature } = settings.modelConfig;
  return canonicalize({
    model: model === 'default' ? context.config.runs.model : model,
    messages: conversationOf(task, steps),
    temperature,
    max_tokens: context.config.runs.outputTokensMax,
    ...(tools.length === 0 ? {} : { tools: tools.map(functionOf) }),
  });
}

function functionOf({ name, description, inputSchema }: GovernedTool) {
  return { type: 'function', function: { name: functionNameOf(name), description, parameters: inputSchema } };
}

function outOfBudget(lease: Lease) {
  return {
    from: ['running'],
    to: 'budget_exhausted',
    outcome: null,
    error: { code: 'MONTHLY_BUDGET_EXHAUSTED', message: 'The monthly budget cannot carry another call of the model.' },
    actor: agentOf(lease.workspaceId),
  } as const;
}
