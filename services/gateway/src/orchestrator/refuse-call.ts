import { agentOf } from '@countersign/contracts';
import { canonicalize } from '@countersign/crypto';
import type { Context } from '../context.ts';
import type { Move } from '../runs/next-move.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import type { Lease } from '../store/leases.ts';
import { insertStep, updateStep } from '../store/steps.ts';
import { stepOf, stillOurs } from './begin-step.ts';
import type { LoadedRun } from './load-run.ts';

/** A malformed call is not submitted. Its error is returned to the model. */
export async function refuseCall(
  context: Context,
  lease: Lease,
  loaded: LoadedRun,
  move: Extract<Move, { kind: 'refuse_call' }>,
): Promise<void> {
  await context.transaction(async (tx) => {
    if (!(await stillOurs(tx, lease))) return;
    const now = context.now();
    const { tool, callId, code, message } = move;
    const step = await insertStep(tx, { ...stepOf(lease, loaded), kind: 'tool_call', tool, callId, args: '{}' }, now);
    const output = canonicalize({ content: message, isError: true });
    await updateStep(tx, step.id, { state: 'settled', decision: null, output, error: { code, message } }, now);
    await auditRefusal(tx, lease, { tool, stepId: step.id, reason: code }, now);
  });
}

async function auditRefusal(
  tx: Tx,
  { workspaceId, runId }: Lease,
  { tool, stepId, reason }: { tool: string; stepId: string; reason: string },
  now: Date,
): Promise<void> {
  const denial = { action: 'step.tool_call', actor: agentOf(workspaceId), verdict: 'deny', reason } as const;
  await recordAudit(tx, { ...denial, workspaceId, subject: stepId, details: { runId, tool } }, now);
}
