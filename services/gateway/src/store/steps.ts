import {
  instantOrNull,
  instantOf,
  ApprovalId,
  DecisionId,
  Digest,
  ReasonCode,
  ReceiptId,
  StepId,
  Verdict,
} from '@countersign/contracts';
import { ApprovalStatus, type Run, type RunErrorCode } from '@countersign/contracts/gateway';
import { z } from 'zod';
import type { ApprovalModel, RunStepModel } from '../generated/prisma/models.ts';
import { newId } from '../ids.ts';
import { ModelReply, Proposal, ToolReply, type StepFacts } from '../runs/conversation.ts';
import type { Reader, Tx } from './database.ts';

const Kind = z.enum(['model_call', 'tool_call']);
const State = z.enum(['submitted', 'parked', 'settled']);

/**
 * The steps of a run after `after`. The requests of settled steps are not loaded, since each contains the whole
 * conversation again.
 */
export async function loadSteps(
  reader: Reader,
  { runId, after }: { runId: string; after: number },
): Promise<StepFacts[]> {
  const where = { runId, seq: { gt: after } };
  const rows = await reader.runStep.findMany({ where, orderBy: { seq: 'asc' }, omit: { args: true } });
  return Promise.all(rows.map(async (row) => factsOf({ ...row, args: await openArgs(reader, row) })));
}

async function openArgs(reader: Reader, { id, state }: Pick<RunStepModel, 'id' | 'state'>): Promise<string> {
  if (state === 'settled') return '';
  return (await reader.runStep.findUniqueOrThrow({ where: { id }, select: { args: true } })).args;
}

export type NewStep = {
  workspaceId: string;
  runId: string;
  seq: number;
  kind: StepFacts['kind'];
  tool: string | null;
  callId: string | null;
  args: string;
  proposal?: Proposal | null;
};

/** The unique key (run, seq) stops a second worker that believes it owns the run. */
export async function insertStep(tx: Tx, step: NewStep, now: Date): Promise<StepFacts> {
  const { workspaceId, runId, seq, kind, tool, callId, args, proposal } = step;
  const row = await tx.runStep.create({
    data: {
      id: newId('stp'),
      ...{ workspaceId, runId, seq, kind, tool, callId, args },
      state: 'submitted',
      proposal: proposal ? JSON.stringify(proposal) : null,
      startedAt: now,
    },
  });
  return factsOf(row);
}

export type StepDecision = {
  verdict: string;
  reasonCode: string;
  decisionId: string;
  receiptId: string;
  argsHash: string;
};

type StepOutcome = {
  state: 'parked' | 'settled';
  decision: StepDecision | null;
  output: string | null;
  error: StepError | null;
};

export async function updateStep(tx: Tx, stepId: string, outcome: StepOutcome, now: Date): Promise<void> {
  const { state, decision, output, error } = outcome;
  await tx.runStep.updateMany({
    where: { id: stepId, state: 'submitted' },
    data: {
      state,
      verdict: decision?.verdict ?? null,
      reasonCode: decision?.reasonCode ?? null,
      decisionId: decision?.decisionId ?? null,
      receiptId: decision?.receiptId ?? null,
      argsHash: decision?.argsHash ?? null,
      output,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
      endedAt: state === 'settled' ? now : null,
    },
  });
}

/** Makes a parked step due again under the approval of the kernel. */
export async function grantStep(tx: Tx, stepId: string, kernelApprovalId: string): Promise<void> {
  await tx.runStep.updateMany({
    where: { id: stepId, state: 'parked' },
    data: { state: 'submitted', approvalId: kernelApprovalId },
  });
}

type StepError = { code: RunErrorCode; message: string };

/** Ends the parked step of a run that will not continue, such as one with a refused approval. */
export async function endOpenStep(tx: Tx, runId: string, error: StepError, now: Date): Promise<void> {
  const { code, message } = error;
  const data = { state: 'settled', errorCode: code, errorMessage: message, endedAt: now };
  await tx.runStep.updateMany({ where: { runId, state: 'parked' }, data });
}

export type ShownStep = Omit<RunStepModel, 'args' | 'output' | 'proposal'>;
export type ShownApproval = Omit<ApprovalModel, 'args'>;
type StepWithApprovals = { step: ShownStep; approvals: readonly ShownApproval[] };

/** `approvals`: the approvals of the run, oldest first. */
export function stepViewOf({ step: row, approvals }: StepWithApprovals): Run['steps'][number] {
  return {
    id: StepId.parse(row.id),
    kind: Kind.parse(row.kind),
    tool: row.tool,
    argsHash: Digest.nullable().parse(row.argsHash),
    verdict: Verdict.nullable().parse(row.verdict),
    reasonCode: ReasonCode.nullable().parse(row.reasonCode),
    decisionId: DecisionId.nullable().parse(row.decisionId),
    receiptId: ReceiptId.nullable().parse(row.receiptId),
    escalations: approvals.filter(({ stepId }) => stepId === row.id).map(escalationOf),
    startedAt: instantOf(row.startedAt),
    endedAt: instantOrNull(row.endedAt),
    error: row.errorCode === null ? null : { code: row.errorCode, message: row.errorMessage ?? '' },
  };
}

function escalationOf({ id, decisionId, status, timelockUntil }: ShownApproval) {
  return {
    approvalId: ApprovalId.parse(id),
    decisionId: DecisionId.nullable().parse(decisionId),
    status: ApprovalStatus.parse(status),
    timelockUntil: instantOrNull(timelockUntil),
  };
}

function factsOf(row: RunStepModel): StepFacts {
  const kind = Kind.parse(row.kind);
  const output: unknown = row.output === null ? null : JSON.parse(row.output);
  return {
    id: row.id,
    seq: row.seq,
    kind,
    state: State.parse(row.state),
    tool: row.tool,
    callId: row.callId,
    args: row.args,
    proposal: row.proposal === null ? null : Proposal.parse(JSON.parse(row.proposal)),
    grantId: row.approvalId,
    decisionId: row.decisionId,
    startedAt: row.startedAt,
    reply: kind === 'model_call' && output !== null ? ModelReply.parse(output) : null,
    toolReply: kind === 'tool_call' && output !== null ? ToolReply.parse(output) : null,
  };
}
