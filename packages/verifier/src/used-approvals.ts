import { ApprovalMoveEvidence } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { usesOf, type ApprovalRequest } from '@countersign/policy';
import { ApprovalVotes } from './approval-votes.ts';
import { parseUntrusted } from './parse-untrusted.ts';
import { unmetTerms } from './unmet-terms.ts';
import { VerificationError } from './verification-error.ts';
import { isApprovalMove } from './verify-approval-move.ts';

/** The call that the moves of an approval are about. */
type Subject = Pick<BoundaryRecord['intent'], 'tool' | 'resource' | 'effect_level'> & {
  policy_hash: BoundaryRecord['policy_hash'];
  judged_hash: string;
  /** `undefined` in records of earlier versions. */
  intent_hash: string | undefined;
};
export type Moved = ApprovalMoveEvidence & { at: string; action: string; subject: Subject };
type Approval = {
  /** Whether the evidence contains the request of the approval and each vote on it. */
  isWhole: boolean;
  /** The time of the first record about the approval, which is not before the approval was requested. */
  firstAt: string;
  /** The last vote or other change of the approval's state. `null` when the evidence has none. */
  moved: Moved | null;
  votes: ApprovalVotes;
  uses: number;
};
type Chain = { isWhole: boolean; approvals: Map<string, Approval> };
type Used = { record: BoundaryRecord; terms: readonly ApprovalRequest[] };

/**
 * Compares each ALLOW that used an approval with the earlier votes in the same chain. In a chain without its
 * beginning, an approval is known from its request on, or from its last move. A chain that lacks the record of a vote
 * proves nothing. Records of earlier versions contain no scope and few expiries.
 */
export class UsedApprovals {
  /** The approvals of each chain. `null` for a chain that lacks the record of a vote. */
  readonly #chains = new Map<string, Chain | null>();

  /**
   * Adds the next receipt of its chain, with its record if present. `terms`: those of the rules that matched the call,
   * if the policy is present. Throws {@link VerificationError} `APPROVAL_CONTRADICTED`.
   */
  take(payload: ReceiptPayload, record: BoundaryRecord | undefined, terms: readonly ApprovalRequest[] = []): void {
    const name = `${payload.tenant_id}\n${payload.session_id}`;
    if (!this.#chains.has(name)) this.#chains.set(name, { isWhole: payload.lamport_clock === 1, approvals: new Map() });
    const chain = this.#chains.get(name) ?? null;
    if (chain === null) return;
    if (isApprovalMove(payload) && record === undefined) this.#chains.set(name, null);
    else if (record !== undefined) takeRecord(chain, { record, terms });
  }
}

function takeRecord({ isWhole, approvals }: Chain, used: Used): void {
  const { record } = used;
  const { approval_id: id, verdict, kind, intent } = record;
  if (id === null) return;
  const isMove = isApprovalMove({ kind, action: intent.action });
  const isUse = kind === 'decision' && verdict === 'ALLOW';
  if (!isMove && !isUse && !isQuestion(record)) return;
  const approval = approvals.get(id) ?? {
    ...{ isWhole: isWhole || isQuestion(record), firstAt: record.created_at },
    ...{ moved: null, votes: new ApprovalVotes(), uses: 0 },
  };
  approvals.set(id, approval);
  if (isMove) move(approval, record);
  else if (isUse) use(approval, used);
}

/**
 * Whether the record requests an approval before its call. Such a record is sealed once. An escalation may instead wait
 * for an approval that already has votes.
 */
function isQuestion({ kind, intent }: BoundaryRecord): boolean {
  return kind === 'approval' && intent.action === 'approval.request';
}

function move(approval: Approval, record: BoundaryRecord): void {
  const evidence = parseUntrusted(ApprovalMoveEvidence, record.intent.facts, 'move of an approval');
  const { action, facts } = record.intent;
  const moved = { ...evidence, at: record.created_at, action, subject: subjectOf(record, evidence) };
  const { moved: before } = approval;
  if (before !== null && !isOpenTo(action, approval, before))
    throw contradicted(record, `${action} cannot follow ${before.action}`);
  if (before !== null && !isSameSubject(before.subject, moved.subject))
    throw contradicted(record, `${action} is about a different call than ${before.action}`);
  approval.moved = moved;
  if (record.verdict === 'ALLOW') approval.votes.add(record, facts); // verify-ceremony.ts parsed the facts of a vote by passkey
}

/** Whether an approval may still be moved in this way. An approval that was refused, withdrawn or used up has ended. */
function isOpenTo(action: string, { votes, uses }: Approval, { state, approved_scope: scope }: Moved): boolean {
  if (state === 'pending') return true;
  if (state !== 'approved' || uses >= usesMax(votes, scope)) return false;
  return action === 'approval.revoke' || action === 'approval.expire' || (action === breaking && !votes.isBroken);
}

const breaking = 'approval.break_glass';

function usesMax(votes: ApprovalVotes, scope: string | undefined): number {
  if (votes.isBroken) return 1;
  return scope === undefined ? Number.POSITIVE_INFINITY : usesOf(scope);
}

function subjectOf({ intent, policy_hash }: BoundaryRecord, { approved_judged_hash }: ApprovalMoveEvidence): Subject {
  const { tool, resource, effect_level, facts } = intent;
  const approved = facts['approved_intent_hash'];
  const intent_hash = typeof approved === 'string' ? approved : undefined;
  return { tool, resource, effect_level, policy_hash, judged_hash: approved_judged_hash, intent_hash };
}

function isSameSubject(left: Subject, right: Subject): boolean {
  const isUnknown = left.intent_hash === undefined || right.intent_hash === undefined;
  return (
    (isUnknown || left.intent_hash === right.intent_hash) &&
    left.judged_hash === right.judged_hash &&
    left.policy_hash === right.policy_hash &&
    left.tool === right.tool &&
    left.resource === right.resource &&
    left.effect_level === right.effect_level
  );
}

function use(approval: Approval, used: Used): void {
  const { moved } = approval;
  const lie = moved === null ? lieWithoutVotes(approval) : lieOf(approval, moved, used);
  if (lie !== null)
    throw new VerificationError(
      'APPROVAL_CONTRADICTED',
      `the call used the approval ${used.record.approval_id ?? ''}, which ${lie}`,
    );
  approval.uses += 1;
}

function lieWithoutVotes({ isWhole }: Approval): string | null {
  return isWhole ? 'no vote had approved' : null;
}

/** The reason why the approval does not permit this call, as text. `null` when it does. */
function lieOf(approval: Approval, moved: Moved, { record, terms }: Used): string | null {
  const { votes, uses } = approval;
  const { created_at, principal_id: by } = record;
  if (moved.state !== 'approved') return 'no vote had approved';
  if (votes.isBy(by)) return 'has the vote of the principal that requested it';
  if (!isOfCall(moved.subject, record) || !votes.showed(record.intent.action)) return 'was issued for a different call';
  if (moved.timelock_until !== undefined && created_at < moved.timelock_until) return 'was still under its time lock';
  const { approved_preconditions: rests, expires_at, approved_scope: scope, approved_expires_at: until } = moved;
  if (rests !== undefined && rests.tool_definition_hash !== record.tool_definition_hash)
    return 'was issued for a different definition of the tool';
  if ((until !== undefined && created_at >= until) || created_at >= votes.signedUntil) return 'had expired';
  if (scope !== undefined && uses >= usesOf(scope)) return `had been used ${uses} times already`;
  if ((expires_at !== undefined && (uses > 0 || created_at >= expires_at)) || (votes.isBroken && uses > 0))
    return 'one person approved by break glass, for a single use that is over or expired';
  return unmetTerms(terms, { ...approval, moved, createdAt: created_at });
}

function isOfCall(subject: Subject, { intent, policy_hash, judged_hash }: BoundaryRecord): boolean {
  const { tool, resource, effect_level, intent_hash } = intent;
  return isSameSubject(subject, {
    tool,
    resource,
    effect_level,
    policy_hash,
    judged_hash: judged_hash ?? '',
    intent_hash,
  });
}

function contradicted({ approval_id: id }: BoundaryRecord, what: string): VerificationError {
  return new VerificationError(
    'APPROVAL_CONTRADICTED',
    `earlier receipts contradict the approval ${id ?? ''}: ${what}`,
  );
}
