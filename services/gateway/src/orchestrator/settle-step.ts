import { agentOf, type AuditVerdict } from '@countersign/contracts';
import { canonicalize } from '@countersign/crypto';
import type { Context } from '../context.ts';
import { publishApprovalRequested } from '../events.ts';
import { receiptRefused, type KernelError } from '../governance/kernel-error.ts';
import { recordRefusedReceipt } from '../audit/record-refused-receipt.ts';
import type { VerifiedDecision } from '../governance/verified-decision.ts';
import type { ModelReply, StepFacts, ToolReply } from '../runs/conversation.ts';
import { denialReply, isTellable } from '../runs/tellable-denial.ts';
import { insertApproval, isApprovalOfOtherRun } from '../store/approvals.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordEvidence } from '../store/evidence.ts';
import { lockLeasedRun, type Lease } from '../store/leases.ts';
import { isReceiptOfOtherStep, recordReceipt } from '../store/receipts.ts';
import { addProgress } from '../store/run-progress.ts';
import { endOpenStep, updateStep, type StepDecision } from '../store/steps.ts';
import { holdTask } from '../store/tasks.ts';
import { recordViolation } from '../audit/record-violation.ts';
import { changeRun, endedUndecided } from '../run-moves/change-run.ts';
import type { StepResult } from './submit-step.ts';
import type { LoadedRun } from './load-run.ts';

type Settling = { tx: Tx; context: Context; lease: Lease; loaded: LoadedRun; step: StepFacts; now: Date };

/**
 * Records the result of a step. Step, receipt, spend, audit, evidence and the effect on the run are committed
 * together. `false` when another worker owns the run. That worker repeats the request to the kernel and receives the
 * same answer.
 */
export async function settleStep(
  context: Context,
  lease: Lease,
  { loaded, step, result }: { loaded: LoadedRun; step: StepFacts; result: StepResult },
): Promise<boolean> {
  return context.transaction(async (tx) => {
    await holdTask(tx, lease.workspaceId, lease.taskId);
    if (!(await lockLeasedRun(tx, lease))) return false;
    const settling = { tx, context, lease, loaded, step, now: context.now() };
    const checked = await refuseReplay(settling, result);
    if (checked.kind === 'failed') await settleFailure(settling, checked.error);
    else await settleAnswer(settling, checked);
    return true;
  });
}

async function refuseReplay({ tx, lease, step }: Settling, result: StepResult): Promise<StepResult> {
  if (result.kind === 'failed') return result;
  const { receipt, approval } = result.governed.decision;
  const decisionId = receipt.payload.decision_id;
  const isReplay = await isReceiptOfOtherStep(tx, { workspaceId: lease.workspaceId, decisionId, stepId: step.id });
  if (isReplay) return { kind: 'failed', error: receiptRefused({ receipt, fault: 'step' }) };
  if (approval === null) return result;
  const input = { kernelApprovalId: approval.approvalId, runId: lease.runId };
  if (!(await isApprovalOfOtherRun(tx, input))) return result;
  return { kind: 'failed', error: receiptRefused({ receipt, fault: 'approval' }) };
}

async function settleFailure(settling: Settling, error: KernelError): Promise<void> {
  const { tx, context, lease, step, now } = settling;
  const failure = { code: error.code, message: error.message };
  await updateStep(tx, step.id, { state: 'settled', decision: null, output: null, error: failure }, now);
  await addProgress(tx, lease.runId, { iterations: iterationOf(step), tokensIn: 0, tokensOut: 0, costMicros: 0n });
  const place = { workspaceId: lease.workspaceId, taskId: lease.taskId, runId: lease.runId, stepId: step.id };
  if (error.refused !== null) await recordRefusedReceipt(tx, context, { ...place, ...error.refused });
  await audit(settling, 'fail', error.code, null);
  await changeRun(tx, context, lease, {
    from: ['running'],
    to: 'failed',
    outcome: error.kind === 'unreachable' ? 'unreachable/degraded' : null,
    error: failure,
    actor: agentOf(lease.workspaceId),
  });
}

async function settleAnswer(
  settling: Settling,
  { governed }: Extract<StepResult, { kind: 'answered' }>,
): Promise<void> {
  const { tx, context, lease, step, now } = settling;
  const { decision, reply } = governed;
  const place = { workspaceId: lease.workspaceId, taskId: lease.taskId, runId: lease.runId, stepId: step.id };
  await recordReceipt(tx, { ...place, receipt: decision.receipt }, now);
  const isTold = isToldToModel(settling, decision);
  const answer = isTold ? denialReply(decision) : reply;
  const output = answer === null ? null : canonicalize(answer); // its schema permits only plain JSON
  const state = decision.verdict === 'ESCALATE' ? 'parked' : 'settled';
  const error = decision.verdict === 'DENY' ? { code: decision.reasonCode, message: decision.reason } : null;
  await updateStep(tx, step.id, { state, decision: stepDecision(decision), output, error }, now);
  await countUse(settling, reply);
  const metadata = {
    decisionId: decision.receipt.payload.decision_id,
    receiptHash: decision.receipt.receipt_hash,
    verdict: decision.verdict,
  };
  await recordEvidence(tx, { ...place, kind: 'step_settled', content: output, metadata }, now);
  await audit(settling, verdictWord[decision.verdict], decision.reasonCode, decision);
  if (decision.verdict === 'DENY') await recordDeniedStep(settling, decision);
  if (decision.verdict === 'DENY' && !isTold) await endDenied(settling, decision);
  if (decision.verdict === 'ESCALATE') await park(context, settling, decision);
}

const verdictWord: Record<VerifiedDecision['verdict'], AuditVerdict> = {
  ALLOW: 'allow',
  DENY: 'deny',
  ESCALATE: 'escalate',
};

function stepDecision({ receipt, verdict, reasonCode }: VerifiedDecision): StepDecision {
  const { payload } = receipt;
  return {
    verdict,
    reasonCode,
    decisionId: payload.decision_id,
    receiptId: payload.receipt_id,
    argsHash: payload.args_hash,
  };
}

/** Counts what a step used. A parked step has not been executed yet, so it is counted when it is repeated. */
async function countUse(settling: Settling, reply: ModelReply | ToolReply | null): Promise<void> {
  const { tx, lease, step } = settling;
  const report = reply !== null && 'usage' in reply ? reply : { usage: null, spendMicros: null };
  const { usage, spendMicros } = report;
  await addProgress(tx, lease.runId, {
    iterations: reply === null ? 0 : iterationOf(step),
    tokensIn: usage?.input ?? 0,
    tokensOut: usage?.output ?? 0,
    costMicros: BigInt(spendMicros ?? 0),
  });
}

function iterationOf(step: StepFacts): number {
  return step.kind === 'model_call' ? 1 : 0;
}

/**
 * Whether the model is informed of the denial and the run continues. Depends on the current settings of the workspace.
 */
function isToldToModel({ loaded, step }: Settling, { verdict, reasonCode }: VerifiedDecision): boolean {
  if (verdict !== 'DENY' || step.kind !== 'tool_call') return false;
  return isTellable(reasonCode, loaded.settings.policyConfig.deniedCall);
}

async function recordDeniedStep({ tx, context, lease, step }: Settling, decision: VerifiedDecision): Promise<void> {
  const { payload } = decision.receipt;
  await recordViolation(tx, context, {
    workspaceId: lease.workspaceId,
    taskId: lease.taskId,
    runId: lease.runId,
    stepId: step.id,
    source: 'kernel',
    tool: payload.tool,
    reasonCode: decision.reasonCode,
    reason: decision.reason,
    decisionId: payload.decision_id,
    receiptId: payload.receipt_id,
  });
}

async function endDenied({ tx, context, lease }: Settling, decision: VerifiedDecision): Promise<void> {
  await changeRun(tx, context, lease, {
    from: ['running'],
    to: decision.reasonCode === 'BUDGET_EXCEEDED' ? 'budget_exhausted' : 'denied',
    outcome: 'deny',
    error: { code: decision.reasonCode, message: decision.reason },
    actor: agentOf(lease.workspaceId),
  });
}

/** Parks the run, so the worker is free. The approval makes the run due again. */
async function park(context: Context, settling: Settling, decision: VerifiedDecision): Promise<void> {
  const { tx, lease, loaded, step, now } = settling;
  const { approval } = decision;
  if (approval === null) throw new Error('An ESCALATE without an approval was verified.');
  const isParked = await changeRun(tx, context, lease, {
    from: ['running'],
    to: 'awaiting_approval',
    outcome: 'escalate',
    actor: agentOf(lease.workspaceId),
  });
  if (!isParked) return endOpenStep(tx, lease.runId, endedUndecided, now);
  const stored = await insertApproval(
    tx,
    {
      workspaceId: lease.workspaceId,
      taskId: lease.taskId,
      runId: lease.runId,
      stepId: step.id,
      kernelApprovalId: approval.approvalId,
      action: decision.receipt.payload.action,
      tool: decision.receipt.payload.tool,
      resource: decision.receipt.payload.resource,
      facts: canonicalize(approval.facts),
      args: step.kind === 'tool_call' ? step.args : canonicalize(approval.args ?? {}),
      effectLevel: decision.receipt.payload.effect_level,
      demand: approval.demand,
      reasonCode: decision.reasonCode,
      reason: decision.reason,
      decisionId: decision.receipt.payload.decision_id,
      requestedBy: agentOf(lease.workspaceId),
      startedBy: loaded.startedBy,
      expiresAt: approval.expiresAt,
    },
    now,
  );
  await publishApprovalRequested(tx, context, stored);
}

async function audit(
  settling: Settling,
  verdict: AuditVerdict,
  reason: string,
  decision: VerifiedDecision | null,
): Promise<void> {
  const { tx, lease, step, now } = settling;
  await recordAudit(
    tx,
    {
      workspaceId: lease.workspaceId,
      action: step.kind === 'model_call' ? 'step.model_call' : 'step.tool_call',
      actor: agentOf(lease.workspaceId),
      verdict,
      reason,
      subject: step.id,
      details: {
        runId: lease.runId,
        tool: step.tool,
        decisionId: decision?.receipt.payload.decision_id ?? null,
        receiptId: decision?.receipt.payload.receipt_id ?? null,
      },
    },
    now,
  );
}
