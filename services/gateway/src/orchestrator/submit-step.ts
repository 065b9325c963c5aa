import type { RunErrorCode } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { KernelError } from '../governance/kernel-error.ts';
import type { GovernedStep } from '../governance/governed-step.ts';
import type { Governed, Kernel } from '../governance/kernel.ts';
import type { ModelReply, StepFacts, ToolReply } from '../runs/conversation.ts';
import { idempotencyKeyOf } from '../runs/next-move.ts';
import type { Lease } from '../store/leases.ts';

/** How a submitted step came back. Whatever is not a verified answer is a failure, and then nothing was executed for us. */
export type StepResult =
  { kind: 'answered'; governed: Governed<ModelReply | ToolReply> } | { kind: 'failed'; error: KernelError };

/** Puts a committed step to the kernel. Throws KernelError `interrupted` when the worker stops: the step stays submitted. */
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
 * The failure of the step, or of the run. Throws errors that are not its fault. The kernel refuses each statement of a
 * gateway whose clock is far off, so the worker is interrupted then, and the run continues when the clock is right.
 */
export async function failureOf({ clockGuard }: Context, thrown: unknown): Promise<KernelError> {
  if (!(thrown instanceof KernelError) || thrown.kind === 'interrupted') throw thrown;
  if (thrown.kind === 'unreachable' && !(await clockGuard.isNear()))
    throw new KernelError('interrupted', 'INTERRUPTED', 'The clock of this gateway is far off', { cause: thrown });
  return thrown;
}

/** The call may have arrived, and nothing that came back says what became of it. The kernel's own refusals say that nothing did. */
const unheard: ReadonlySet<RunErrorCode> = new Set([
  'GOVERNANCE_TIMEOUT',
  'GOVERNANCE_UNAVAILABLE',
  'GOVERNANCE_MALFORMED',
  'GOVERNANCE_KEYS_UNAVAILABLE',
  'RECEIPT_UNVERIFIED',
  'IDEMPOTENCY_IN_FLIGHT',
]);

/** A person decides by the error whether to run the task again, and must not take an unreported effect for none. */
export function mayHaveBeenMade({ kind, code, message, refused }: KernelError): KernelError {
  return new KernelError(kind, code, `${message}. The call may have been made.`, { refused });
}

export const notConfigured = new KernelError(
  'unreachable',
  'GOVERNANCE_NOT_CONFIGURED',
  'No governance service is configured, and nothing runs ungoverned',
);

function ask(kernel: Kernel, governed: GovernedStep, step: StepFacts): Promise<Governed<ModelReply | ToolReply>> {
  if (step.kind === 'model_call') return kernel.callModel(governed, step.args);
  const call = { tool: step.tool ?? '', args: step.args };
  // Under a grant the call is executed. Without one, the decision stands that was made when the model proposed it.
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
