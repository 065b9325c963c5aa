import { AppError } from '@countersign/contracts';
import type { AccessKeyId, Digest, PlainJson, PrincipalId, TenantId } from '@countersign/contracts';
import { requireApproverKey, wantedKey } from '../access-keys/key-facts.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { isOperatorRevoked, requireNotRevoked } from '../identities/operators.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Wanted } from '../ledger/control.ts';
import { passkeys } from '../passkeys/passkeys.ts';
import { countUse, wantedPasskey } from '../passkeys/use-passkey.ts';
import type { PasskeyUse } from '../passkeys/webauthn.ts';
import { wantedPolicies } from '../policy/policy-heads.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvalTerms } from '../voting/approval-terms.ts';
import { approvals } from './approvals.ts';
import { withCountedVotes } from './counted-votes.ts';
import { requireRight, type Electorate, type Voter } from '../voting/decision-rights.ts';
import { sealIfEnded } from './end-approval.ts';
import { memberRoles } from '../voting/member-roles.ts';
import { foundIn, said, sealMove, type ApprovalKey, type ApprovalParts } from './seal-move.ts';
import { transition, type ApprovalAction } from './transition.ts';

type ApprovalMove = ApprovalKey &
  Voter & {
    /** Who had approved it as the caller read it. A vote on another state is refused. */
    approvedBy: readonly PrincipalId[];
    action: ApprovalAction;
    expectedCeremonyHash: Digest;
    /** Sealed, and told to the agent when it is refused. */
    reason?: string | undefined;
    /** The access key that the decider came with: it must be good when the decision commits. */
    accessKey?: AccessKeyId;
    /** The decider's evidence: sealed into the boundary record, so that it can be checked offline. */
    evidence: Record<string, PlainJson>;
    /** The passkey that signed: it must be good when the decision commits, and counts this use. */
    passkey?: PasskeyUse;
    /** Checked under the lock, before the move: a signature over what is decided. */
    verify?: (approval: ApprovalRow) => void;
  };

/**
 * Moves an approval, seals the decider, and notifies waiting callers, in one transaction. One that time or a new policy
 * has ended becomes `expired` instead. Throws what transition() throws, or NOT_FOUND.
 */
export async function moveApproval(parts: ApprovalParts, move: ApprovalMove): Promise<ApprovalRow> {
  const { tenant, id, session } = move;
  const moved = await parts.ledger.submit({
    chain: { tenant, session },
    wants: [
      wanted(approvals, { tenant, session, id }),
      wanted(approvalTerms, tenant),
      ...wantedPolicies(tenant),
      wanted(memberRoles, tenant),
      ...[move.by, ...move.approvedBy].map((principal) => wantedIdentity({ tenant, principal }, 'operator')),
      ...wantedCredential(move),
    ],
    conclude: (batch) => {
      const approval = concludeMove(parts, batch, move);
      return () => approval;
    },
  });
  if (moved.state === 'expired')
    throw new AppError('ILLEGAL_TRANSITION', moved.rejectionReason ?? 'The approval has expired', {
      details: { state: 'expired', allowed: [] },
    });
  return moved;
}

function wantedCredential({ tenant, accessKey, passkey }: ApprovalMove): Wanted[] {
  return [
    ...wantedKey(accessKey === undefined ? {} : { accessKey }),
    ...(passkey === undefined ? [] : [wantedPasskey(tenant, passkey)]),
  ];
}

function concludeMove(parts: ApprovalParts, batch: LedgerBatch, move: ApprovalMove): ApprovalRow {
  const approval = foundIn(batch, move);
  const nowMs = batch.issuedMs(move, parts.clock().getTime());
  move.verify?.(approval);
  const { tenant, by: principal, accessKey } = move;
  requireNotRevoked(batch, { tenant, principal });
  if (accessKey !== undefined) requireApproverKey(batch, { id: accessKey, tenant, principal }, nowMs);
  const ended = sealIfEnded(parts, batch, approval, nowMs);
  if (ended !== null) return ended;
  const { by, evidence, action, reason, passkey } = move;
  const electorate = electorateOf(batch, tenant);
  requireRight(electorate, action, move);
  requireSameVoters(approval, move);
  const counted = withCountedVotes(approval, electorate);
  const { approval: moved, role } = transition(parts.provider, counted, { ...move, electorate, nowMs });
  const used =
    passkey === undefined ? [] : [put(passkeys, countUse(batch, { tenant, principal, use: passkey }, nowMs))];
  const facts = {
    ...evidence,
    role,
    ...(reason === undefined ? {} : { reason: action === 'break_glass' ? reason.trim() : reason }),
    ceremony_hash: move.expectedCeremonyHash,
  };
  return sealMove(parts, batch, { approval: moved, nowMs, by, facts, used, ...said[action] });
}

/** Who decides, as it is when the move commits. */
function electorateOf(batch: LedgerBatch, tenant: TenantId): Electorate {
  return {
    terms: batch.row(approvalTerms, tenant),
    members: batch.row(memberRoles, tenant),
    isRevoked: (principal) => isOperatorRevoked(batch, { tenant, principal }),
  };
}

/** Only of those whom the caller read does the batch know whether they were revoked. */
function requireSameVoters({ approvedBy }: ApprovalRow, move: ApprovalMove): void {
  if (approvedBy.every((voter) => move.approvedBy.includes(voter))) return;
  throw new AppError('PRECONDITION_FAILED', 'The approval changed since it was read', {
    param: 'expected_ceremony_hash',
  });
}
