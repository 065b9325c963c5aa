import { AppError } from '@countersign/contracts';
import type { ApprovalId } from '@countersign/contracts';
import type { GovernedCall } from '../boundary/governed-call.ts';
import { normalise, type Hasher, type SealedIntent } from '../boundary/normalise.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { ApprovalRow } from './approval-row.ts';
import { sealCeremony } from './ceremony.ts';
import { usesOf } from './scope.ts';

export type AskParts = {
  ledger: GroupCommit;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

export type Question = Pick<GovernedCall, 'caller' | 'session' | 'action' | 'tool' | 'resource' | 'args'> &
  Pick<ApprovalRow, 'reason' | 'quorum' | 'approvers' | 'scope'> & { expiresInSeconds: number };

/** Nobody declared an effect, so the approval is for the gravest one. */
const effectLevel = 'E4';

/**
 * Opens the approval of one exact call before it is made, under the policy that is active now. It decides nothing: the call takes
 * the whole cycle when it comes. Throws POLICY_DENIED without a policy, since no approval could ever fit.
 */
export function askBeforehand(parts: AskParts, question: Question): Promise<ApprovalRow> {
  const { caller, session } = question;
  const call: GovernedCall = { ...question, effectLevel, context: {}, mode: 'enforce', dispatchedBy: 'caller' };
  const intent = normalise(parts.hasher, call);
  const nowMs = parts.clock().getTime();
  const id = `apr_${parts.newUlid(nowMs)}` as ApprovalId; // the form that ApprovalId describes
  return parts.ledger.submit({
    chain: { tenant: caller.tenant, session },
    reads: { policyOf: caller.tenant },
    conclude: (batch) => open(parts, batch, { id, nowMs, intent, question }),
  });
}

type Asked = { id: ApprovalId; nowMs: number; intent: SealedIntent; question: Question };

function open({ hasher }: AskParts, batch: LedgerBatch, { id, nowMs, intent, question }: Asked): ApprovalRow {
  const { caller, session, reason, quorum, approvers, scope, expiresInSeconds } = question;
  const policy = batch.policy(caller.tenant);
  if (policy === null)
    throw new AppError('POLICY_DENIED', 'Without an active policy there is nothing to approve under', {
      reasonCode: 'POLICY_MISSING',
    });
  const approval = sealCeremony(hasher.provider, {
    ...{ id, tenant: caller.tenant, state: 'pending', requestedBy: caller.principal, session },
    ...{ action: intent.action, tool: intent.tool, resource: intent.resource, effectLevel },
    ...{ argsHash: intent.args_hash, intentHash: intent.intent_hash },
    ...{ policyHash: policy.hash, policyEpoch: policy.epoch, receiptId: null },
    ...{ reason, quorum, approvers: [...new Set(approvers)], approvedBy: [], scope, usesRemaining: usesOf(scope) },
    timelockUntilMs: null,
    expiresAtMs: nowMs + expiresInSeconds * 1000,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
  batch.newApprovals.push(approval);
  return approval;
}
