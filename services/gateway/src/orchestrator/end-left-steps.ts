import { agentOf } from '@countersign/contracts';
import type { Context } from '../context.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { takeLeftStep, type LeftStep } from '../store/left-steps.ts';
import { addProgress } from '../store/run-progress.ts';
import { updateStep } from '../store/steps.ts';

/** Few enough that one sweep stays short. */
const stepsPerSweep = 50;

const runEnded = {
  code: 'RUN_ENDED',
  message: 'The run ended before this call was answered. It may have been made.',
} as const;

/**
 * Ends the open steps of cancelled and abandoned runs. The kernel reports whether they were executed and what they
 * cost.
 */
export async function endLeftSteps(context: Context): Promise<void> {
  for (let ended = 0; ended < stepsPerSweep; ended += 1) {
    const step = await context.transaction((tx) => endLeftStep(tx, context.now()));
    if (step === null) return;
    context.log.warn('step.left_open', { run_id: step.runId, step_id: step.id });
  }
}

async function endLeftStep(tx: Tx, now: Date): Promise<LeftStep | null> {
  const step = await takeLeftStep(tx);
  if (step === null) return null;
  const { workspaceId, runId, tool } = step;
  await updateStep(tx, step.id, { state: 'settled', decision: null, output: null, error: runEnded }, now);
  const iterations = step.kind === 'model_call' ? 1 : 0;
  await addProgress(tx, runId, { iterations, tokensIn: 0, tokensOut: 0, costMicros: 0n });
  const event = {
    workspaceId,
    action: `step.${step.kind}`,
    actor: agentOf(workspaceId),
    verdict: 'fail',
    reason: runEnded.code,
    subject: step.id,
    details: { runId, tool, decisionId: null, receiptId: null },
  } as const;
  await recordAudit(tx, event, now);
  return step;
}
