import { AppError } from '@countersign/contracts';
import { announcementStatement, receiptIdOf } from '@countersign/receipts';
import type { ApprovalId, Instant } from '@countersign/contracts';
import type { NamedCall } from '../call/governed-call.ts';
import { normalise, toolOf, type Hasher, type SealedIntent } from '../call/normalise.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import { isActive, wantedPolicies } from '../policy/policy-heads.ts';
import { underActivePolicy, type PolicyChanged, type PolicySource } from '../policy/under-active-policy.ts';
import type { ToolResolver } from '../registry/tool-resolver.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvals } from './approvals.ts';
import { withCeremonyHash } from './ceremony.ts';
import { usesOf } from './scope.ts';

type AskParts = {
  ledger: GroupCommit;
  policies: PolicySource;
  tools: ToolResolver;
  hasher: Hasher;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
};

type Question = { call: NamedCall; expiresInSeconds: number } & Pick<
  ApprovalRow,
  'reason' | 'quorum' | 'approvers' | 'scope'
>;

/**
 * Opens the approval of one exact call before it is made, under the policy that is active now: its tool is resolved and the call is
 * normalised as it will be when it comes, so the approval fits it by whatever door. It decides nothing; the call takes the whole cycle.
 * Throws POLICY_DENIED where no approval could ever fit: without a policy, and for a call that cannot be decided about.
 */
export async function askBeforehand(parts: AskParts, question: Question): Promise<ApprovalRow> {
  const { call } = question;
  const tool = toolOf(call);
  const resolution = tool === null ? null : await parts.tools.resolve(tool);
  const { tenant } = call.caller;
  const asked = await underActivePolicy(parts.policies, tenant, async (policy) => {
    const { intent, fault } = normalise(parts.hasher, call, { resolution, policy: policy?.policy ?? null });
    if (fault !== null) throw new AppError('POLICY_DENIED', fault, { reasonCode: 'MALFORMED_ARGUMENTS' });
    return await openQuestion(parts, { question, intent, policy });
  });
  return asked.approval;
}

type Opened = PolicyChanged | { kind: 'asked'; approval: ApprovalRow };
type Put = { question: Question; intent: SealedIntent; policy: LoadedPolicy | null };

function openQuestion(parts: AskParts, { question, intent, policy }: Put): Promise<Opened> {
  const { caller, session } = question.call;
  const nowMs = parts.clock().getTime();
  const ulid = parts.newUlid(nowMs);
  return parts.ledger.submit({
    chain: { tenant: caller.tenant, session },
    wants: wantedPolicies(caller.tenant),
    conclude: (batch: LedgerBatch): (() => Opened) => {
      if (!isActive(batch, caller.tenant, policy)) return () => ({ kind: 'policy_changed' });
      const approval = questionRow(parts, { ulid, nowMs, intent, question, policy });
      batch.seal(announcementStatement(parts.hasher.provider, asked(approval, ulid)), () => ({
        changes: [put(approvals, approval)],
      }));
      return () => ({ kind: 'asked', approval });
    },
  });
}

type Asked = Put & { ulid: string; nowMs: number };

function questionRow({ hasher }: AskParts, { ulid, nowMs, intent, question, policy }: Asked): ApprovalRow {
  const { call, reason, quorum, approvers, scope, expiresInSeconds } = question;
  const { caller, session } = call;
  if (policy === null)
    throw new AppError('POLICY_DENIED', 'Without an active policy there is nothing to approve under', {
      reasonCode: 'POLICY_MISSING',
    });
  return withCeremonyHash(hasher.provider, {
    ...{
      id: `apr_${ulid}` as ApprovalId,
      tenant: caller.tenant,
      state: 'pending',
      requestedBy: caller.principal,
      session,
    },
    ...{ action: intent.action, tool: intent.tool, resource: intent.resource, effectLevel: intent.effect_level },
    ...{ argsHash: intent.args_hash, intentHash: intent.intent_hash },
    ...{ policyHash: policy.hash, policyEpoch: policy.epoch, receiptId: receiptIdOf(ulid) },
    ...{ reason, quorum, approvers: [...new Set(approvers)], approvedBy: [], scope, usesRemaining: usesOf(scope) },
    rejectionReason: null,
    timelockUntilMs: null,
    expiresAtMs: nowMs + expiresInSeconds * 1000,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

/** That somebody asked is sealed like everything that changes a session's approvals. */
function asked(approval: ApprovalRow, ulid: string) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
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
