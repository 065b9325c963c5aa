import type { RunErrorCode } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { KernelError, notConfigured } from '../governance/kernel-error.ts';
import type { GovernedStep } from '../governance/governed-step.ts';
import type { Governed, Kernel } from '../governance/kernel.ts';
import type { ModelReply, StepFacts, ToolReply } from '../runs/conversation.ts';
import { idempotencyKeyOf } from '../runs/next-move.ts';
import type { Lease } from '../store/leases.ts';

/**
 * The result of a submitted step. Anything but a verified answer is a failure. Its error states whether the call may
 * have been made.
 */
export type StepResult =
  { kind: 'answered'; governed: Governed<ModelReply | ToolReply> } | { kind: 'failed'; error: KernelError };

/**
 * Submits a committed step to the kernel. Throws KernelError `interrupted` when the worker stops. The step then stays
 * submitted.
 */
export async function submitStep(
  context: Context,
  lease: Lease,
  step: StepFacts,
  signal: AbortSignal,
): Promise<StepResult> {
  const { kernel } = context;
  if (kernel === null) return { kind: 'failed', error: notConfigured };
  try {
    return { kind: 'answered', governed: await ask(kernel, governedStep(lease, step, signal), step) };
  } catch (thrown) {
    const error = await failureOf(context, thrown);
    return { kind: 'failed', error: unheard.has(error.code) ? mayHaveBeenMade(error) : error };
  }
}

/**
 * The failure of the step or the run. Throws errors that are not failures of the step. The kernel refuses each
 * statement of a gateway with a wrong clock, so the worker is interrupted and the run continues when the clock is
 * right.
 */
export async function failureOf({ clockGuard }: Context, thrown: unknown): Promise<KernelError> {
  if (!(thrown instanceof KernelError) || thrown.kind === 'interrupted') throw thrown;
  if (thrown.kind === 'unreachable' && !(await clockGuard.isNear()))
    throw new KernelError('interrupted', 'INTERRUPTED', 'The clock of this gateway is wrong. Set it', {
      cause: thrown,
    });
  return thrown;
}

/**
 * Codes after which the call may have arrived, and its result is unknown. Refusals by the kernel state that nothing
 * was executed.
 */
const unheard: ReadonlySet<RunErrorCode> = new Set([
  'GOVERNANCE_TIMEOUT',
  'GOVERNANCE_UNAVAILABLE',
  'GOVERNANCE_MALFORMED',
  'GOVERNANCE_KEYS_UNAVAILABLE',
  'RECEIPT_UNVERIFIED',
  'IDEMPOTENCY_IN_FLIGHT',
]);

/** States in the error that the call may have been made. A person decides by the error whether to repeat the task. */
export function mayHaveBeenMade({ kind, code, message, refused }: KernelError): KernelError {
  return new KernelError(kind, code, `${message}. The call may have been made.`, { refused });
}

function ask(kernel: Kernel, governed: GovernedStep, step: StepFacts): Promise<Governed<ModelReply | ToolReply>> {
  if (step.kind === 'model_call') return kernel.callModel(governed, step.args);
  const call = { tool: step.tool ?? '', args: step.args };
  // With a grant, the call is executed. Without a grant, the kernel's decision on the proposed call applies. It was
  // made when the model proposed the call.
  if (step.proposal !== null && step.grantId === null) return kernel.recallDecision(governed, call, step.proposal);
  return kernel.callTool(governed, call);
}

function governedStep(lease: Lease, step: StepFacts, signal: AbortSignal): GovernedStep {
  return {
    workspaceId: lease.workspaceId,
    runId: lease.runId,
    startedBy: lease.startedBy,
    idempotencyKey: idempotencyKeyOf(step),
    approvalGrant: step.grantId,
    startedAt: step.startedAt,
    signal,
  };
}
