import { ApprovalId, type PrincipalId } from '@countersign/contracts';
import type { ApprovalHandle } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import { grantsNoMore, usesOf, type ApprovalRequest, type Decision, type Facts } from '@countersign/policy';
import { receiptIdOf } from '@countersign/receipts';
import type { BudgetRow } from '../budgets/budget-row.ts';
import type { NamedCall } from '../../call/governed-call.ts';
import type { Judged } from '../../call/judged.ts';
import type { SealedIntent } from '../../call/normalise.ts';
import type { LoadedPolicy } from '../policy/loaded-policy.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvalUrl, type DecisionPages } from './approval-url.ts';
import type { ArgsCipher } from './args-cipher.ts';
import { wholeGlass } from './break-glass.ts';
import { withCeremonyHash } from './ceremony.ts';
import { preconditionsOf } from './preconditions.ts';
import { lifetimeSeconds } from './scope.ts';

type Escalation = {
  ulid: string;
  nowMs: number;
  call: NamedCall;
  intent: SealedIntent;
  judged: Judged;
  policy: LoadedPolicy | null;
  decision: Decision;
  request: ApprovalRequest;
  gathered: { facts: Pick<Facts, 'registry'>; budgets: readonly BudgetRow[]; sponsor: PrincipalId | null };
};

/** The pending approval of an ESCALATE. It covers the judged values, this policy and this scope until it expires. */
export function pendingApproval(
  { provider, argsCipher }: AskedDeps,
  { ulid, nowMs, call, intent, judged, policy, decision, request, gathered }: Escalation,
): ApprovalRow {
  const { scope } = request;
  return withCeremonyHash(provider, {
    ...askedCall(argsCipher, { ulid, call, sponsor: gathered.sponsor, intent, judged }),
    state: 'pending',
    policyHash: policy?.hash ?? null,
    policyEpoch: policy?.epoch ?? 0,
    preconditions: preconditionsOf(gathered.facts.registry, { request, budgets: gathered.budgets }),
    receiptId: receiptIdOf(ulid),
    reason: decision.reason,
    quorum: request.quorum,
    approvers: request.approvers as PrincipalId[], // the bundle's schema checked them
    approvedBy: [],
    approvedWith: [],
    approvedAs: [],
    approvedCredentials: [],
    scope,
    usesRemaining: usesOf(scope),
    rejectionReason: null,
    timelockSeconds: request.timelock ?? 0,
    timelockUntilMs: null,
    ...wholeGlass,
    expiresAtMs: nowMs + request.timeout * 1000,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
  });
}

type AskedDeps = { provider: CryptoProvider; argsCipher: ArgsCipher };

/** The call of an approval, in the same form whether it was escalated or its approval was requested in advance. */
export function askedCall(
  argsCipher: ArgsCipher,
  {
    ulid,
    call,
    sponsor,
    intent,
    judged,
  }: Pick<Escalation, 'ulid' | 'call' | 'intent' | 'judged'> & Pick<ApprovalRow, 'sponsor'>,
) {
  const id = ApprovalId.parse(`apr_${ulid}`); // the ULID of the sealed entry, so that approval and entry lead to each other
  const { tenant, principal: requestedBy } = call.caller;
  const argsHash = intent.args_hash;
  return {
    id,
    tenant,
    requestedBy,
    sponsor,
    session: call.session,
    action: intent.action,
    tool: intent.tool,
    resource: intent.resource,
    effectLevel: intent.effect_level,
    demand: judged.recorded,
    facts: judged.read.facts,
    cappedFacts: judged.read.capped_facts ?? null,
    argsHash,
    argsEncrypted: argsCipher.encrypt({ id, tenant, argsHash }, intent.args),
    intentHash: intent.intent_hash,
    judgedHash: judged.hash,
  };
}

/** Whether an approval of the open request would also satisfy the new request. */
export function wantsNoLess(open: ApprovalRow, wanted: ApprovalRequest): boolean {
  const sameCircle =
    wanted.approvers.length === 0 ||
    (open.approvers.length > 0 && open.approvers.every((approver) => wanted.approvers.includes(approver)));
  const { scope, timelockSeconds: timelock, preconditions } = open;
  const noWider = grantsNoMore({ scope, timeout: lifetimeSeconds(open), timelock, preconditions }, wanted);
  return open.quorum >= wanted.quorum && sameCircle && noWider;
}

/** The approval after one more use. It is consumed when no use remains. */
export function usedOnce(provider: CryptoProvider, approval: ApprovalRow, nowMs: number): ApprovalRow {
  const usesRemaining = approval.usesRemaining - 1;
  const state = usesRemaining <= 0 ? 'consumed' : approval.state;
  return withCeremonyHash(provider, { ...approval, usesRemaining, state, updatedAtMs: nowMs });
}

export function approvalHandle(approval: ApprovalRow, pages: DecisionPages): ApprovalHandle {
  return {
    approval_id: approval.id,
    expires_at: new Date(approval.expiresAtMs).toISOString() as ApprovalHandle['expires_at'], // toISOString writes exactly this form
    approve_url: approvalUrl(approval, pages),
  };
}
