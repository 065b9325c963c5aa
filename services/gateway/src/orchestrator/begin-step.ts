import { canonicalize } from '@countersign/crypto';
import type { Context } from '../context.ts';
import { agentOf, type GovernedTool } from '../governance/kernel.ts';
import { conversationOf, type StepFacts } from '../runs/conversation.ts';
import type { Move } from '../runs/next-move.ts';
import { budgetMicros, monthOf, worstCaseMicros } from '../runs/spend.ts';
import { functionNameOf } from '../runs/tool-names.ts';
import { lockLeasedRun, type Lease } from '../store/leases.ts';
import { reserveSpend } from '../store/spend.ts';
import { insertStep, type NewStep } from '../store/steps.ts';
import { lockTask } from '../store/tasks.ts';
import { changeRun } from './conclude-run.ts';
import type { LoadedRun } from './load-run.ts';

/** Null: the run is not ours to move any more. */
export type BegunStep = StepFacts | 'out_of_budget' | null;

/** Commits the next model call before it is made, with the money that it can cost at most. */
export async function beginModelCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  tools: readonly GovernedTool[],
): Promise<BegunStep> {
  const { outputTokensMax, prices } = context.config.runs;
  const request = modelRequest(context, loaded, tools);
  const reservedMicros = worstCaseMicros(prices, { bytes: Buffer.byteLength(request), outputTokensMax });
  return context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return null;
    const month = monthOf(context.now());
    const budget = budgetMicros(loaded.settings.budgetConfig.monthlyLlmBudget);
    const reserved = await reserveSpend(
      tx,
      { workspaceId: lease.workspaceId, month },
      { micros: reservedMicros, budgetMicros: budget },
    );
    if (!reserved) {
      await changeRun(tx, context, lease, outOfBudget(lease));
      return 'out_of_budget';
    }
    const step = {
      ...stepOf(lease, loaded),
      kind: 'model_call',
      tool: null,
      callId: null,
      args: request,
      reservedMicros,
    } as const;
    return insertStep(tx, step, context.now());
  });
}

/** Commits the next tool call before it is dispatched. */
export async function beginToolCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  move: Extract<Move, { kind: 'call_tool' }>,
): Promise<BegunStep> {
  return context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return null;
    const { tool, callId, proposal } = move;
    const step = { ...stepOf(lease, loaded), kind: 'tool_call', tool, callId, proposal, reservedMicros: 0 } as const;
    return insertStep(tx, { ...step, args: canonicalize(move.args) }, context.now());
  });
}

/** Locks task and run, in this order, and tells whether the lease still counts for a running run. */
export async function stillOurs(tx: Parameters<typeof lockLeasedRun>[0], lease: Lease): Promise<boolean> {
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
