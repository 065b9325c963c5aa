import type { ConsoleRun, ConsoleRunWithSteps, ConsoleStep } from '@countersign/contracts/control-plane';
import type { Run, RunStep, RunSummary } from '@countersign/contracts/gateway';

export function runView(run: RunSummary): ConsoleRun {
  const { status, outcome, currency, result, error } = run;
  return {
    run_id: run.id,
    task_id: run.taskId,
    ...{ status, outcome, currency, result, error },
    started_by: run.startedBy,
    iterations_used: run.iterationsUsed,
    iteration_budget: run.iterationBudget,
    tokens_in: run.tokensIn,
    tokens_out: run.tokensOut,
    cost_minor: run.costMinor,
    created_at: run.createdAt,
    started_at: run.startedAt,
    ended_at: run.endedAt,
  };
}

export function runWithStepsView(run: Run): ConsoleRunWithSteps {
  return { ...runView(run), steps: run.steps.map(stepView) };
}

function stepView(step: RunStep): ConsoleStep {
  const { kind, tool, verdict, error } = step;
  return {
    step_id: step.id,
    ...{ kind, tool, verdict, error },
    args_hash: step.argsHash,
    reason_code: step.reasonCode,
    decision_id: step.decisionId,
    receipt_id: step.receiptId,
    escalations: step.escalations.map(({ approvalId, decisionId, status, timelockUntil }) => ({
      approval_id: approvalId,
      decision_id: decisionId,
      status,
      timelock_until: timelockUntil,
    })),
    started_at: step.startedAt,
    ended_at: step.endedAt,
  };
}
