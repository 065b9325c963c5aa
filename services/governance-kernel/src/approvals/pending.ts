import type { ApprovalId, PrincipalId } from '@countersign/contracts';
import type { ApprovalHandle } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { grantsNoMore, type ApprovalRequest, type Decision } from '@countersign/policy';
import { receiptIdOf } from '@countersign/receipts';
import type { NamedCall } from '../call/governed-call.ts';
import type { SealedIntent } from '../call/normalise.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { ApprovalRow } from './approval-row.ts';
import { withCeremonyHash } from './ceremony.ts';
import { lifetimeSeconds, usesOf } from './scope.ts';

type Escalation = {
  ulid: string;
  nowMs: number;
  call: NamedCall;
  intent: SealedIntent;
  policy: LoadedPolicy | null;
  decision: Decision;
  asked: ApprovalRequest;
};

/** The pending approval that an ESCALATE leaves behind: bound to this call, this policy, this scope, until it expires. */
export function pendingApproval(
  provider: CryptoProvider,
  { ulid, nowMs, call, intent, policy, decision, asked }: Escalation,
): ApprovalRow {
  const { scope } = asked;
  return withCeremonyHash(provider, {
    id: `apr_${ulid}` as ApprovalId, // the decision's own ULID: each leads to the other
    tenant: call.caller.tenant,
    state: 'pending',
    requestedBy: call.caller.principal,
    session: call.session,
    action: intent.action,
    tool: intent.tool,
    resource: intent.resource,
    effectLevel: intent.effect_level,
    argsHash: intent.args_hash,
    intentHash: intent.intent_hash,
    policyHash: policy?.hash ?? null,
    policyEpoch: policy?.epoch ?? 0,
    receiptId: receiptIdOf(ulid),
    reason: decision.reason,
    quorum: asked.quorum,
    approvers: asked.approvers as PrincipalId[], // the bundle's schema bounds them the same way
    approvedBy: [],
    scope,
    usesRemaining: usesOf(scope),
    rejectionReason: null,
    timelockUntilMs: null,
    expiresAtMs: nowMs + asked.timeout * 1000,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

/** Would an answer to this question satisfy that ask too? */
export function wantsNoLess(open: ApprovalRow, asked: ApprovalRequest): boolean {
  const sameCircle =
    asked.approvers.length === 0 ||
    (open.approvers.length > 0 && open.approvers.every((approver) => asked.approvers.includes(approver)));
  const noWider = grantsNoMore({ scope: open.scope, timeout: lifetimeSeconds(open) }, asked);
  return open.quorum >= asked.quorum && sameCircle && noWider;
}

/** The approval after one more use; a scope without uses left is consumed. */
export function usedOnce(provider: CryptoProvider, approval: ApprovalRow, nowMs: number): ApprovalRow {
  const usesRemaining = approval.usesRemaining - 1;
  const state = usesRemaining <= 0 ? 'consumed' : approval.state;
  return withCeremonyHash(provider, { ...approval, usesRemaining, state, updatedAtMs: nowMs });
}

export function approvalHandle(approval: ApprovalRow, publicUrl: string): ApprovalHandle {
  return {
    approval_id: approval.id,
    expires_at: new Date(approval.expiresAtMs).toISOString() as ApprovalHandle['expires_at'], // toISOString writes exactly this form
    approve_url: `${publicUrl}/approvals/${approval.id}`,
  };
}
