import type { WorkspaceApproval } from '@countersign/contracts/gateway';
import type { Context } from '../context.ts';
import { changeRun } from '../run-moves/change-run.ts';
import type { Tx } from '../store/database.ts';
import { recordViolation } from '../audit/record-violation.ts';
import { recordResolution } from '../run-moves/record-resolution.ts';
import type { runOf } from './run-of.ts';

const messages = {
  APPROVAL_REJECTED: 'The approval was rejected',
  APPROVAL_EXPIRED: 'There was no decision in time',
} as const;

type Unapproved = {
  actor: string;
  code: keyof typeof messages;
  /** The reason of a rejection, a withdrawal or an early expiry. `null` when there is none. */
  reason: string | null;
  requestId: string | null;
};

/**
 * Applies a rejected or expired approval, which is a violation. The action never runs, and a run that waited for it
 * ends as denied.
 */
export async function endUnapproved(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { run, ...approval }: WorkspaceApproval & { run: ReturnType<typeof runOf> },
  end: Unapproved,
): Promise<void> {
  const error = { code: end.code, message: messageOf(end) };
  await recordViolation(tx, context, {
    workspaceId: approval.workspaceId,
    taskId: approval.taskId,
    runId: approval.runId,
    stepId: null,
    source: 'workspace',
    tool: approval.tool,
    reasonCode: error.code,
    reason: error.message,
    decisionId: approval.decisionId,
    receiptId: null,
  });
  await recordResolution(tx, context, approval, end);
  if (run === null) return;
  const change = { from: ['awaiting_approval'], to: 'denied', outcome: 'deny', error, actor: end.actor } as const;
  await changeRun(tx, context, run, { ...change, requestId: end.requestId });
}

function messageOf({ code, reason }: Unapproved): string {
  if (reason === null) return `${messages[code]}.`;
  return code === 'APPROVAL_EXPIRED' ? `${reason}.` : `${messages[code]}: ${reason}`;
}
