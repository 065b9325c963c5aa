import { keyOfPrincipal, type EventOf } from '@countersign/contracts';
import type { ApiKey } from '@countersign/contracts/gateway';
import type { kernelApprovalRequested } from '@countersign/contracts/governance-kernel';
import { canonicalize } from '@countersign/crypto';
import type { Context } from '../context.ts';
import { publishApprovalRequested } from '../events.ts';
import type { Question } from '../governance/find-question.ts';
import { recordRefusedReceipt } from '../audit/record-refused-receipt.ts';
import { KernelError, type RefusedReceipt } from '../governance/kernel-error.ts';
import { findKeyOf } from '../store/api-keys.ts';
import { findApprovalOfKernel, insertApprovalOfKey } from '../store/approvals.ts';
import { recordAudit } from '../store/audit.ts';
import type { Tx } from '../store/database.ts';
import { recordReceipt } from '../store/receipts.ts';

type Deps = Pick<Context, 'log' | 'database' | 'newEvent' | 'kernel' | 'now' | 'databaseNow' | 'transaction'>;

type Requested = EventOf<typeof kernelApprovalRequested>['data'];

/**
 * Stores the approval request of a call that a workspace key made, so that members find it in their inbox. Approval,
 * receipt, audit entry and event are committed once in one transaction, however often the kernel sends the request.
 * Requests of other callers are ignored. Throws KernelError when the message must be delivered again.
 */
export async function recordQuestion(context: Deps, requested: Requested): Promise<void> {
  const { tenant_id: workspaceId, approval_id: approvalId, session_id: sessionId, requested_by: principal } = requested;
  const { reader } = context.database;
  const keyId = keyOfPrincipal(principal);
  const key = keyId === null ? null : await findKeyOf(reader, workspaceId, keyId);
  if (key === null || context.kernel === null) return;
  if ((await findApprovalOfKernel(reader, { workspaceId, kernelApprovalId: approvalId })) !== null) return;
  const input = { workspaceId, sessionId, approvalId, principal };
  const question = await context.kernel.findQuestion(input).catch(async (error: unknown) => {
    if (error instanceof KernelError && error.refused !== null) await keepRefused(context, workspaceId, error.refused);
    throw error;
  });
  if (question !== null) await context.transaction((tx) => record(tx, context, { key, question }));
}

const noRun = { taskId: null, runId: null, stepId: null };

async function keepRefused(
  context: Pick<Context, 'log' | 'now' | 'transaction'>,
  workspaceId: string,
  refused: RefusedReceipt,
): Promise<void> {
  await context.transaction((tx) => recordRefusedReceipt(tx, context, { workspaceId, ...noRun, ...refused }));
}

async function record(
  tx: Tx,
  context: Pick<Context, 'newEvent' | 'now' | 'databaseNow'>,
  { key, question }: { key: ApiKey; question: Question },
): Promise<void> {
  const { approval, receipt } = question;
  const { workspaceId, id: apiKeyId, name: apiKeyName, createdBy: startedBy } = key;
  const {
    decision_id: decisionId,
    receipt_id: receiptId,
    reason_code: reasonCode,
    principal_id: actor,
  } = receipt.payload;
  const { approval_id: kernelApprovalId, action, tool, resource, session_id: sessionId, demand, reason } = approval;
  const now = context.now();
  const stored = await insertApprovalOfKey(
    tx,
    {
      ...{ workspaceId, apiKeyId, apiKeyName, sessionId, kernelApprovalId, requestedBy: actor, startedBy },
      ...{ action, tool, resource, effectLevel: approval.effect_level, demand, reasonCode, reason, decisionId },
      args: canonicalize(approval.args ?? {}),
      facts: canonicalize(approval.facts),
      expiresAt: new Date(approval.expires_at),
    },
    now,
  );
  if (stored === null) return;
  await recordReceipt(tx, { workspaceId, ...noRun, receipt }, now);
  const input = { action: 'approval.requested', actor, verdict: 'escalate', reason: reasonCode } as const;
  const details = { tool, kernelApprovalId, apiKeyId, decisionId, receiptId };
  await recordAudit(tx, { ...input, workspaceId, subject: stored.id, details }, now);
  await publishApprovalRequested(tx, context, stored);
}
