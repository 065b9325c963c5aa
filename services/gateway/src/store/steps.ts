import { DecisionId, Digest, ReasonCode, ReceiptId, StepId, Verdict } from '@countersign/contracts';
import type { Run } from '@countersign/contracts/gateway';
import { z } from 'zod';
import { newId } from '../ids.ts';
import { ModelReply, Proposal, ToolReply, type StepFacts } from '../runs/conversation.ts';
import { instant, instantOrNull, onlyRow, type Sql } from './sql.ts';

type StepRow = {
  id: string;
  run_id: string;
  seq: number;
  kind: string;
  state: string;
  tool: string | null;
  call_id: string | null;
  args: string;
  proposal: string | null;
  args_hash: string | null;
  verdict: string | null;
  reason_code: string | null;
  decision_id: string | null;
  receipt_id: string | null;
  approval_id: string | null;
  reserved_micros: string;
  reserved_month: string | null;
  output: string | null;
  error_code: string | null;
  error_message: string | null;
  started_at: Date;
  ended_at: Date | null;
};

const Kind = z.enum(['model_call', 'tool_call']);
const State = z.enum(['dispatched', 'parked', 'settled']);

export async function loadSteps(sql: Sql, runId: string): Promise<StepFacts[]> {
  const { rows } = await sql.query<StepRow>('SELECT * FROM run_steps WHERE run_id = $1 ORDER BY seq', [runId]);
  return rows.map(factsOf);
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
  reservation?: Reservation;
};

/** Money set aside for one call of the model, in one month's budget. */
export type Reservation = { micros: number; month: string };

/** Two workers that both believe to own a run meet at the unique (run, seq). */
export async function insertStep(tx: Sql, step: NewStep, now: Date): Promise<StepFacts> {
  const { rows } = await tx.query<StepRow>(
    `INSERT INTO run_steps (id, workspace_id, run_id, seq, kind, state, tool, call_id, args, reserved_micros, reserved_month, started_at, proposal)
     VALUES ($1, $2, $3, $4, $5, 'dispatched', $6, $7, $8, $9, $10, $11, $12) RETURNING *`,
    [
      newId('stp'),
      step.workspaceId,
      step.runId,
      step.seq,
      step.kind,
      step.tool,
      step.callId,
      step.args,
      step.reservation?.micros ?? 0,
      step.reservation?.month ?? null,
      now,
      step.proposal ? JSON.stringify(step.proposal) : null,
    ],
  );
  return factsOf(onlyRow(rows));
}

export type StepDecision = {
  verdict: string;
  reasonCode: string;
  decisionId: string;
  receiptId: string;
  argsHash: string;
};

export type StepOutcome = {
  state: 'parked' | 'settled';
  decision: StepDecision | null;
  output: string | null;
  error: { code: string; message: string } | null;
};

export async function updateStep(tx: Sql, stepId: string, outcome: StepOutcome, now: Date): Promise<void> {
  await tx.query(
    `UPDATE run_steps SET state = $2, verdict = $3, reason_code = $4, decision_id = $5, receipt_id = $6, args_hash = $7,
            output = $8, error_code = $9, error_message = $10, ended_at = $11, reserved_micros = 0,
            reserved_month = NULL
      WHERE id = $1 AND state = 'dispatched'`,
    [
      stepId,
      outcome.state,
      outcome.decision?.verdict ?? null,
      outcome.decision?.reasonCode ?? null,
      outcome.decision?.decisionId ?? null,
      outcome.decision?.receiptId ?? null,
      outcome.decision?.argsHash ?? null,
      outcome.output,
      outcome.error?.code ?? null,
      outcome.error?.message ?? null,
      outcome.state === 'settled' ? now : null,
    ],
  );
}

/** Makes a parked step due again, now under the kernel's approval. */
export async function grantStep(tx: Sql, stepId: string, kernelApprovalId: string): Promise<void> {
  await tx.query(`UPDATE run_steps SET state = 'dispatched', approval_id = $2 WHERE id = $1 AND state = 'parked'`, [
    stepId,
    kernelApprovalId,
  ]);
}

/** Notes what was set aside anew for a call that gave its reservation back while it was parked. */
export async function reserveStep(tx: Sql, stepId: string, { micros, month }: Reservation): Promise<void> {
  await tx.query('UPDATE run_steps SET reserved_micros = $2, reserved_month = $3 WHERE id = $1', [
    stepId,
    micros,
    month,
  ]);
}

/** Ends a granted step that is not made after all. What the kernel decided about it stays with it. */
export async function dropGrantedStep(
  tx: Sql,
  stepId: string,
  error: { code: string; message: string },
  now: Date,
): Promise<void> {
  await tx.query(
    `UPDATE run_steps SET state = 'settled', error_code = $2, error_message = $3, ended_at = $4
      WHERE id = $1 AND state = 'dispatched'`,
    [stepId, error.code, error.message, now],
  );
}

/** Ends the open step of a run that will not go on, such as one whose approval was refused. */
export async function closeOpenStep(
  tx: Sql,
  runId: string,
  error: { code: string; message: string },
  now: Date,
): Promise<void> {
  await tx.query(
    `UPDATE run_steps SET state = 'settled', error_code = $2, error_message = $3, ended_at = $4
      WHERE run_id = $1 AND state = 'parked'`,
    [runId, error.code, error.message, now],
  );
}

export async function stepViewsOf(sql: Sql, runIds: readonly string[]): Promise<Map<string, Run['steps']>> {
  const views = new Map<string, Run['steps']>();
  if (runIds.length === 0) return views;
  const { rows } = await sql.query<StepRow>('SELECT * FROM run_steps WHERE run_id = ANY($1) ORDER BY run_id, seq', [
    runIds,
  ]);
  for (const row of rows) {
    const steps = views.get(row.run_id) ?? [];
    steps.push(viewOf(row));
    views.set(row.run_id, steps);
  }
  return views;
}

function viewOf(row: StepRow): Run['steps'][number] {
  return {
    id: StepId.parse(row.id),
    kind: Kind.parse(row.kind),
    tool: row.tool,
    argsHash: Digest.nullable().parse(row.args_hash),
    verdict: Verdict.nullable().parse(row.verdict),
    reasonCode: ReasonCode.nullable().parse(row.reason_code),
    decisionId: DecisionId.nullable().parse(row.decision_id),
    receiptId: ReceiptId.nullable().parse(row.receipt_id),
    startedAt: instant(row.started_at),
    endedAt: instantOrNull(row.ended_at),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
  };
}

function factsOf(row: StepRow): StepFacts {
  const kind = Kind.parse(row.kind);
  const output: unknown = row.output === null ? null : JSON.parse(row.output);
  return {
    id: row.id,
    seq: row.seq,
    kind,
    state: State.parse(row.state),
    tool: row.tool,
    callId: row.call_id,
    args: row.args,
    proposal: row.proposal === null ? null : Proposal.parse(JSON.parse(row.proposal)),
    grantId: row.approval_id,
    decisionId: row.decision_id,
    reservedMicros: Number(row.reserved_micros),
    reservedMonth: row.reserved_month,
    startedAt: row.started_at,
    reply: kind === 'model_call' && output !== null ? ModelReply.parse(output) : null,
    toolReply: kind === 'tool_call' && output !== null ? ToolReply.parse(output) : null,
  };
}
