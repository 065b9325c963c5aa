import type { RunErrorCode, RunStatus } from '@countersign/contracts/gateway';
import type { JsonValue } from '@countersign/crypto';
import { nextToolCall, type OpenCall, type Proposal, type StepFacts } from './conversation.ts';

type RunFacts = { status: RunStatus; iterationBudget: number };

/** The next move of a worker for a run. It depends only on committed steps, so every worker computes the same move. */
export type Move =
  | { kind: 'repeat'; step: StepFacts }
  | { kind: 'call_model' }
  | { kind: 'call_tool'; callId: string; tool: string; args: { [name: string]: JsonValue }; proposal: Proposal | null }
  | { kind: 'refuse_call'; callId: string; tool: string; code: 'MALFORMED_ARGUMENTS'; message: string }
  | { kind: 'end'; status: 'completed'; result: string | null; refusal: null }
  | { kind: 'end'; status: 'budget_exhausted'; result: null; refusal: { code: RunErrorCode; message: string } }
  | { kind: 'leave' };

export function nextMove(run: RunFacts, steps: readonly StepFacts[]): Move {
  if (run.status !== 'running') return { kind: 'leave' };
  const last = steps.at(-1);
  // Submitted without an outcome. The step is repeated under the same idempotency key.
  if (last?.state === 'submitted') return { kind: 'repeat', step: last };
  if (last?.state === 'parked') return { kind: 'leave' };
  const call = nextToolCall(steps);
  if (call !== null) return moveOfCall(call);
  if (last?.kind === 'model_call') return completed(last);
  return withinBudget(run, steps) ? { kind: 'call_model' } : exhausted;
}

function moveOfCall({ callId, tool, args, proposal }: OpenCall): Move {
  if (args !== null) return { kind: 'call_tool', callId, tool, args, proposal };
  // The kernel has already decided this call, so its arguments do not matter.
  if (proposal !== null) return { kind: 'call_tool', callId, tool, args: {}, proposal };
  return { kind: 'refuse_call', callId, tool, ...malformedArguments };
}

const malformedArguments = {
  code: 'MALFORMED_ARGUMENTS',
  message: 'The arguments of a tool call must be one JSON object.',
} as const;

const exhausted: Move = {
  kind: 'end',
  status: 'budget_exhausted',
  result: null,
  refusal: {
    code: 'ITERATION_BUDGET_EXHAUSTED',
    message: 'The run used its last iteration before it was done.',
  },
};

function completed(last: StepFacts): Move {
  const content = last.reply?.message.content ?? null;
  return { kind: 'end', status: 'completed', result: content, refusal: null };
}

/** One iteration is one call of the model. */
function withinBudget(run: RunFacts, steps: readonly StepFacts[]): boolean {
  return steps.filter((step) => step.kind === 'model_call').length < run.iterationBudget;
}

/**
 * A repeated submission has the same key, so the kernel answers from its records. A submission under an approval is a
 * new request with a new key.
 */
export function idempotencyKeyOf({
  id,
  grantId,
  decisionId,
}: Pick<StepFacts, 'id' | 'grantId' | 'decisionId'>): string {
  return grantId === null ? id : `${id}.${decisionId ?? grantId}`;
}
