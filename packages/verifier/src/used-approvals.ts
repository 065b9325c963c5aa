import { ApprovalMoveEvidence } from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import { samePerson, usesOf } from '@countersign/policy';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';
import { isApprovalMove } from './verify-approval-move.ts';

type Moved = ApprovalMoveEvidence & { approvedBy: readonly BoundaryRecord['principal_id'][]; uses: number };
/** The approvals by id, according to the chain so far. */
type Told = Map<string, Moved>;

/**
 * Holds each ALLOW that used an approval against the votes before it: they stand in the same chain. A chain that is not here from its
 * beginning, or that lacks the record of a vote, says nothing of it. Records of earlier versions contain no scope and few expiries.
 */
export class UsedApprovals {
  readonly #chains = new Map<string, Told>();

  /** The next receipt of its chain, with its record if it is here. Throws {@link VerificationError} `APPROVAL_CONTRADICTED`. */
  take(payload: ReceiptPayload, record: BoundaryRecord | undefined): void {
    const chain = `${payload.tenant_id}\n${payload.session_id}`;
    if (payload.lamport_clock === 1) this.#chains.set(chain, new Map());
    const told = this.#chains.get(chain);
    if (told === undefined) return;
    if (isApprovalMove(payload) && record === undefined) this.#chains.delete(chain);
    else if (record !== undefined) takeRecord(told, record);
  }
}

function takeRecord(told: Told, record: BoundaryRecord): void {
  const { approval_id: id, verdict, kind, principal_id: by } = record;
  if (id === null) return;
  if (isApprovalMove({ kind, action: record.intent.action })) {
    const evidence = parseUntrusted(ApprovalMoveEvidence, record.intent.facts, 'move of an approval');
    // A further move gives no further use.
    const { approvedBy: before, uses } = told.get(id) ?? { approvedBy: [], uses: 0 };
    told.set(id, { ...evidence, approvedBy: verdict === 'ALLOW' ? [...before, by] : before, uses });
  } else if (kind === 'decision' && verdict === 'ALLOW') {
    const moved = told.get(id);
    const lie = lieOf(moved, record);
    if (moved === undefined || lie !== null)
      throw new VerificationError('APPROVAL_CONTRADICTED', `the call used the approval ${id}, which ${lie}`);
    moved.uses += 1;
  }
}

/** The reason why the approval does not allow this call, in words; `null` when it does. */
function lieOf(moved: Moved | undefined, used: BoundaryRecord): string | null {
  const { judged_hash, tool_definition_hash, created_at, principal_id: by } = used;
  if (moved?.state !== 'approved') return 'nobody had given';
  if (moved.approvedBy.some((voter) => samePerson(voter, by))) return 'has the vote of whoever asked for it';
  if (moved.approved_judged_hash !== judged_hash) return 'was given for another call';
  if (moved.timelock_until !== undefined && created_at < moved.timelock_until) return 'had to wait';
  const { approved_preconditions: rests, expires_at } = moved;
  if (rests !== undefined && rests.tool_definition_hash !== tool_definition_hash)
    return 'was given under another definition of the tool';
  const { approved_scope: scope, approved_expires_at: until } = moved;
  if (until !== undefined && created_at >= until) return 'had expired';
  if (scope !== undefined && moved.uses >= usesOf(scope)) return `had been used ${moved.uses} times already`;
  if (expires_at === undefined) return null;
  return moved.uses > 0 || created_at >= expires_at ? 'somebody broke the glass for, once and for a short time' : null;
}
