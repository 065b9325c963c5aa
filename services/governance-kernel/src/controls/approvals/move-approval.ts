import { AppError } from '@countersign/contracts';
import type { AccessKeyId, Digest, PlainJson, PrincipalId, TenantId } from '@countersign/contracts';
import { requireApproverKey, wantedKey } from '../access-keys/key-facts.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { isOperatorRevoked, requireNotRevoked } from '../identities/operators.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted, type Wanted } from '../../ledger/control.ts';
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
import { foundIn, sealedMoves, sealMove, type ApprovalKey, type ApprovalDeps } from './seal-move.ts';
import { transition, type ApprovalAction } from './transition.ts';

type ApprovalMove = ApprovalKey &
  Voter & {
    /** The voters in the state that the caller read. The move is refused if the approval has other voters by now. */
    approvedBy: readonly PrincipalId[];
    action: ApprovalAction;
    expectedCeremonyHash: Digest;
    /** The reason of the decider, which is sealed. The agent gets the reason of a denial or withdrawal. */
    reason?: string | undefined;
    /** The access key of the decider, which must be valid at the commit. */
    accessKey?: AccessKeyId;
    /** The evidence of the decider, sealed into the boundary record for offline verification. */
    evidence: Record<string, PlainJson>;
    /** The passkey that signed. It must be valid at the commit, and its counter is updated. */
    passkey?: PasskeyUse;
    /** Verifies a signature over the decided state. Called under the lock, before the move. */
    verify?: (approval: ApprovalRow) => void;
  };

/**
 * Moves an approval, seals who decided it, and notifies waiting callers, in one transaction. An approval that has
 * expired, or whose policy was replaced, becomes `expired` instead, and ILLEGAL_TRANSITION is thrown. Throws NOT_FOUND,
 * the errors of transition(), and an error for a revoked decider or credential.
 */
export async function moveApproval(deps: ApprovalDeps, move: ApprovalMove): Promise<ApprovalRow> {
  const { tenant, id, session } = move;
  const moved = await deps.ledger.submit({
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
      const approval = concludeMove(deps, batch, move);
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

function concludeMove(deps: ApprovalDeps, batch: LedgerBatch, move: ApprovalMove): ApprovalRow {
  const approval = foundIn(batch, move);
  const nowMs = batch.issuedMs(move, deps.clock().getTime());
  move.verify?.(approval);
  const { tenant, by: principal, accessKey } = move;
  requireNotRevoked(batch, { tenant, principal });
  if (accessKey !== undefined) requireApproverKey(batch, { id: accessKey, tenant, principal }, nowMs);
  const ended = sealIfEnded(deps, batch, approval, nowMs);
  if (ended !== null) return ended;
  const { by, evidence, action, reason, passkey } = move;
  const electorate = electorateOf(batch, tenant);
  requireRight(electorate, action, move);
  requireSameVoters(approval, move);
  const counted = withCountedVotes(approval, electorate);
  const { approval: moved, role } = transition(deps.provider, counted, { ...move, electorate, nowMs });
  const used =
    passkey === undefined ? [] : [put(passkeys, countUse(batch, { tenant, principal, use: passkey }, nowMs))];
  const facts = {
    ...evidence,
    role,
    ...(reason === undefined ? {} : { reason: action === 'break_glass' ? reason.trim() : reason }),
    ceremony_hash: move.expectedCeremonyHash,
  };
  return sealMove(deps, batch, { approval: moved, nowMs, by, facts, used, ...sealedMoves[action] });
}

/** The people who may decide, at the commit of the move. */
function electorateOf(batch: LedgerBatch, tenant: TenantId): Electorate {
  return {
    terms: batch.row(approvalTerms, tenant),
    members: batch.row(memberRoles, tenant),
    isRevoked: (principal) => isOperatorRevoked(batch, { tenant, principal }),
  };
}

/**
 * Throws PRECONDITION_FAILED when the approval has a voter whom the caller did not read. The batch read only the
 * revocations of the voters that the caller knew.
 */
function requireSameVoters({ approvedBy }: ApprovalRow, move: ApprovalMove): void {
  if (approvedBy.every((voter) => move.approvedBy.includes(voter))) return;
  throw new AppError('PRECONDITION_FAILED', 'The approval changed after you read it. Read it again', {
    param: 'expected_ceremony_hash',
  });
}
