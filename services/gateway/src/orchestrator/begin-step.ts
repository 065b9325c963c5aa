import { toolOfFunctionName } from '@countersign/contracts';
import type { WorkspaceSettings } from '@countersign/contracts/gateway';
import { canonicalize } from '@countersign/crypto';
import type { Context } from '../context.ts';
import type { GovernedTool } from '../governance/kernel.ts';
import { conversationOf, type StepFacts } from '../runs/conversation.ts';
import type { Move } from '../runs/next-move.ts';
import { functionNameOf } from '../runs/tool-names.ts';
import { holdsSettings } from '../store/confirmed-settings.ts';
import type { Tx } from '../store/database.ts';
import { isHeld } from '../store/lanes.ts';
import { lockRunningRun, type Lease } from '../store/leases.ts';
import { insertStep, type NewStep } from '../store/steps.ts';
import { holdTask } from '../store/tasks.ts';
import type { LoadedRun } from './load-run.ts';

/**
 * `null` when another worker owns the run. `settings_changed`: the settings are no longer current, or not confirmed by
 * the kernel. Nothing was begun, and the next load of the run reads them again. `lane_held`: the lane of the workspace
 * is held, so nothing was begun.
 */
export type BegunStep = StepFacts | 'settings_changed' | 'lane_held' | null;

/** Commits the next model call before it is made. */
export async function beginModelCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  tools: readonly GovernedTool[],
): Promise<BegunStep> {
  const args = modelRequest(context, loaded, tools);
  return beginNew(context, lease, loaded, (tx) => {
    const step = { ...stepOf(lease, loaded), kind: 'model_call', tool: null, callId: null, args } as const;
    return insertStep(tx, step, context.now());
  });
}

/** Commits the next tool call before it is submitted. */
export async function beginToolCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  move: Extract<Move, { kind: 'call_tool' }>,
): Promise<BegunStep> {
  const { tool, callId, proposal } = move;
  return beginNew(context, lease, loaded, (tx) => {
    const step = { ...stepOf(lease, loaded), kind: 'tool_call', tool, callId, proposal } as const;
    return insertStep(tx, { ...step, args: canonicalize(move.args) }, context.now());
  });
}

/** Begins a stored step again, because its answer was lost or its call was approved. */
export async function beginAgain(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  step: StepFacts,
): Promise<BegunStep> {
  return begin(context, lease, loaded, () => Promise.resolve(step));
}

/** Begins a new step, unless the lane is held. A held lane does not stop an open step. */
function beginNew(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  work: (tx: Tx) => Promise<StepFacts>,
): Promise<BegunStep> {
  return begin(context, lease, loaded, async (tx) => ((await isHeld(tx, lease.workspaceId)) ? 'lane_held' : work(tx)));
}

async function begin(
  context: Context,
  lease: Lease,
  { settingsVersion: version }: LoadedRun,
  work: (tx: Tx) => Promise<BegunStep>,
): Promise<BegunStep> {
  return context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return null;
    if (!(await holdsSettings(tx, { workspaceId: lease.workspaceId, version }))) return 'settings_changed';
    return work(tx);
  });
}

/** Locks the task, then the run. Returns whether the lease still counts for a running run. */
export async function stillOurs(tx: Tx, lease: Lease): Promise<boolean> {
  await holdTask(tx, lease.workspaceId, lease.taskId);
  return lockRunningRun(tx, lease);
}

export function stepOf(lease: Lease, loaded: LoadedRun): Pick<NewStep, 'workspaceId' | 'runId' | 'seq'> {
  return { workspaceId: lease.workspaceId, runId: lease.runId, seq: loaded.steps.length + 1 };
}

function modelRequest(context: Context, { task, steps, settings }: LoadedRun, tools: readonly GovernedTool[]): string {
  const { temperature } = settings.modelConfig;
  const offered = offeredTools(tools, settings.policyConfig.blockedTools);
  return canonicalize({
    model: modelName(settings.modelConfig, context.config.runs.model),
    messages: conversationOf(task, steps),
    temperature,
    max_tokens: context.config.runs.outputTokensMax,
    ...(offered.length === 0 ? {} : { tools: offered.map(functionOf) }),
  });
}

/** Where one address serves models of several providers, model names begin with the provider. */
function modelName({ provider, model }: WorkspaceSettings['modelConfig'], modelDefault: string): string {
  const name = model === 'default' ? modelDefault : model;
  return provider === 'default' ? name : `${provider}/${name}`;
}

/** The kernel denies blocked tools. A model that is not offered a tool does not request it. */
function offeredTools(tools: readonly GovernedTool[], blockedTools: readonly string[]): GovernedTool[] {
  const blocked = new Set(blockedTools.map(toolOfFunctionName));
  return tools.filter(({ name }) => !blocked.has(toolOfFunctionName(name)));
}

function functionOf({ name, description, inputSchema }: GovernedTool) {
  return { type: 'function', function: { name: functionNameOf(name), description, parameters: inputSchema } };
}
