import { AppError } from '@countersign/contracts';
import { announcementStatement, receiptIdOf } from '@countersign/receipts';
import type { ApprovalId, Instant } from '@countersign/contracts';
import type { GovernedCall } from '../call/governed-call.ts';
import { normalise, type Hasher, type SealedIntent } from '../call/normalise.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { activePolicy, wantedPolicies } from '../policy/policy-heads.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvals } from './approvals.ts';
import { sealCeremony } from './ceremony.ts';
import { usesOf } from './scope.ts';

type AskParts = {
  ledger: GroupCommit;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Question = Pick<GovernedCall, 'caller' | 'session' | 'action' | 'tool' | 'resource' | 'args'> &
  Pick<ApprovalRow, 'reason' | 'quorum' | 'approvers' | 'scope'> & { expiresInSeconds: number };

/** Nobody declared an effect, so the approval is for the gravest one. */
const effectLevel = 'E4' as const;
/** It decides nothing: what is known of the tool is judged when the call comes. */
const registry = { state: 'not_applicable' } as const;

/**
 * Opens the approval of one exact call before it is made, under the policy that is active now. It decides nothing: the call takes
 * the whole cycle when it comes. Throws POLICY_DENIED without a policy, since no approval could ever fit.
 */
export function askBeforehand(parts: AskParts, question: Question): Promise<ApprovalRow> {
  const { caller, session } = question;
  const call: GovernedCall = {
    ...question,
    effectLevel,
    context: {},
    registry,
    mode: 'enforce',
    dispatchedBy: 'caller',
  };
  const intent = normalise(parts.hasher, call);
  const nowMs = parts.clock().getTime();
  const ulid = parts.newUlid(nowMs);
  return parts.ledger.submit({
    chain: { tenant: caller.tenant, session },
    wants: wantedPolicies(caller.tenant),
    conclude: (batch) => {
      const approval = questionRow(parts, batch, { ulid, nowMs, intent, question });
      batch.seal(announcementStatement(parts.hasher.provider, asked(approval, ulid)), () => ({
        changes: [put(approvals, approval)],
      }));
      return () => approval;
    },
  });
}

type Asked = { ulid: string; nowMs: number; intent: SealedIntent; question: Question };

function questionRow({ hasher }: AskParts, batch: LedgerBatch, { ulid, nowMs, intent, question }: Asked): ApprovalRow {
  const { caller, session, reason, quorum, approvers, scope, expiresInSeconds } = question;
  const policy = activePolicy(batch, caller.tenant);
  if (policy === null)
    throw new AppError('POLICY_DENIED', 'Without an active policy there is nothing to approve under', {
      reasonCode: 'POLICY_MISSING',
    });
  return sealCeremony(hasher.provider, {
    ...{
      id: `apr_${ulid}` as ApprovalId,
      tenant: caller.tenant,
      state: 'pending',
      requestedBy: caller.principal,
      session,
    },
    ...{ action: intent.action, tool: intent.tool, resource: intent.resource, effectLevel },
    ...{ argsHash: intent.args_hash, intentHash: intent.intent_hash },
    ...{ policyHash: policy.hash, policyEpoch: policy.epoch, receiptId: receiptIdOf(ulid) },
    ...{ reason, quorum, approvers: [...new Set(approvers)], approvedBy: [], scope, usesRemaining: usesOf(scope) },
    timelockUntilMs: null,
    expiresAtMs: nowMs + expiresInSeconds * 1000,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

/** That somebody asked is sealed like everything that changes a session's approvals. */
function asked(approval: ApprovalRow, ulid: string) {
  const { tenant, session, tool, resource, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch, ulid },
    at: new Date(approval.createdAtMs).toISOString() as Instant, // toISOString writes exactly this form
    principal: approval.requestedBy,
    kind: 'approval' as const,
    action: 'approval.request',
    verdict: 'ESCALATE' as const,
    reasonCode: 'APPROVAL_REQUIRED' as const,
    approvalId: approval.id,
    facts: { asked_intent_hash: approval.intentHash, ceremony_hash: approval.ceremonyHash },
  };
}
