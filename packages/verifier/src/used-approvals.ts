import { ApprovalMoveEvidence } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { samePerson, usesOf } from '@countersign/policy';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';
import { isApprovalMove } from './verify-approval-move.ts';

type Moved = ApprovalMoveEvidence & { approvedBy: readonly BoundaryRecord['principal_id'][]; isBroken: boolean };
type Approval = {
  /** Whether the evidence contains the request of the approval and each vote on it. */
  isWhole: boolean;
  /** The last vote or other change of the approval's state. `null` when the evidence has none. */
  moved: Moved | null;
  uses: number;
};
type Chain = { isWhole: boolean; approvals: Map<string, Approval> };
/** The votes that a rule requires when it escalates a call. */
export type AskedVotes = { quorum: number; approvers: readonly string[] };
type Used = { record: BoundaryRecord; requests: readonly AskedVotes[] };

/**
 * Compares each ALLOW that used an approval with the earlier votes in the same chain. In a chain without its
 * beginning, an approval is known from its request on, or from its last move. A chain that lacks the record of a vote
 * proves nothing. Records of earlier versions contain no scope and few expiries.
 */
export class UsedApprovals {
  /** The approvals of each chain. `null` for a chain that lacks the record of a vote. */
  readonly #chains = new Map<string, Chain | null>();

  /**
   * Adds the next receipt of its chain, with its record if present. `requests`: the demands of the rules that matched
   * the call, if the policy is present. Throws {@link VerificationError} `APPROVAL_CONTRADICTED`.
   */
  take(payload: ReceiptPayload, record: BoundaryRecord | undefined, requests: readonly AskedVotes[] = []): void {
    const name = `${payload.tenant_id}\n${payload.session_id}`;
    if (!this.#chains.has(name)) this.#chains.set(name, { isWhole: payload.lamport_clock === 1, approvals: new Map() });
    const chain = this.#chains.get(name) ?? null;
    if (chain === null) return;
    if (isApprovalMove(payload) && record === undefined) this.#chains.set(name, null);
    else if (record !== undefined) takeRecord(chain, { record, requests });
  }
}

function takeRecord({ isWhole, approvals }: Chain, used: Used): void {
  const { approval_id: id, verdict, kind, intent } = used.record;
  if (id === null) return;
  const existing = approvals.get(id);
  const approval = existing ?? { isWhole: isWhole || isQuestion(used.record), moved: null, uses: 0 };
  if (existing === undefined) approvals.set(id, approval);
  if (isApprovalMove({ kind, action: intent.action })) approval.moved = movedBy(used.record, approval.moved);
  else if (kind === 'decision' && verdict === 'ALLOW') {
    const lie = lieOf(approval, used);
    if (lie !== null)
      throw new VerificationError('APPROVAL_CONTRADICTED', `the call used the approval ${id}, which ${lie}`);
    approval.uses += 1;
  }
}

/**
 * Whether the record requests an approval before its call. Such a record is sealed once. An escalation may instead wait
 * for an approval that already has votes.
 */
function isQuestion({ intent }: BoundaryRecord): boolean {
  return intent.action === 'approval.request';
}

function movedBy({ kind, verdict, principal_id: by, intent }: BoundaryRecord, before: Moved | null): Moved {
  const evidence = parseUntrusted(ApprovalMoveEvidence, intent.facts, 'move of an approval');
  const approvedBy = before?.approvedBy ?? [];
  return {
    ...evidence,
    approvedBy: verdict === 'ALLOW' ? [...approvedBy, by] : approvedBy,
    isBroken: kind === 'break_glass' || before?.isBroken === true,
  };
}

/**
 * The reason why the approval does not permit this call, as text. `null` when it does, or when its votes are missing.
 */
function lieOf({ isWhole, moved, uses }: Approval, { record, requests }: Used): string | null {
  if (moved === null) return isWhole ? 'no vote had approved' : null;
  const { judged_hash, tool_definition_hash, created_at, principal_id: by } = record;
  const { approvedBy } = moved;
  if (moved.state !== 'approved') return 'no vote had approved';
  if (approvedBy.some((voter) => samePerson(voter, by))) return 'has the vote of the principal that requested it';
  if (moved.approved_judged_hash !== judged_hash) return 'was issued for a different call';
  if (moved.timelock_until !== undefined && created_at < moved.timelock_until) return 'was still under its time lock';
  const { approved_preconditions: rests, expires_at } = moved;
  if (rests !== undefined && rests.tool_definition_hash !== tool_definition_hash)
    return 'was issued for a different definition of the tool';
  const { approved_scope: scope, approved_expires_at: until } = moved;
  if (until !== undefined && created_at >= until) return 'had expired';
  if (scope !== undefined && uses >= usesOf(scope)) return `had been used ${uses} times already`;
  if (isWhole && !moved.isBroken) {
    const short = requests.find((votes) => namedVotes(votes, approvedBy) < votes.quorum);
    if (short !== undefined) return `had ${namedVotes(short, approvedBy)} of ${short.quorum} votes`;
  }
  if (expires_at === undefined) return null;
  return uses > 0 || created_at >= expires_at
    ? 'one person approved by break glass, for a single use that is over or expired'
    : null;
}

/** Votes of different people. Two spellings of one name count as one vote. An approver in a rule is matched exactly. */
function namedVotes({ approvers }: AskedVotes, approvedBy: Moved['approvedBy']): number {
  const named = approvedBy.filter((voter) => approvers.length === 0 || approvers.includes(voter));
  return named.filter((voter, nth) => !named.slice(0, nth).some((earlier) => samePerson(earlier, voter))).length;
}
