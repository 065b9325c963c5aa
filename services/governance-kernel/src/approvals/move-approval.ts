import { AppError } from '@countersign/contracts';
import type {
  AccessKeyId,
  ApprovalId,
  Digest,
  PlainJson,
  PrincipalId,
  ReasonCode,
  SessionId,
  TenantId,
  Verdict,
} from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import { announcementStatement } from '@countersign/receipts';
import { requireApproverKey, wantedKey } from '../access-keys/key-facts.ts';
import { approvalResolvedEvent, glassBrokenEvent } from '../events.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { isOperatorRevoked, requireNotRevoked } from '../identities/operators.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { put, wanted, type Change, type Wanted } from '../ledger/control.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import { passkeys } from '../passkeys/passkeys.ts';
import { requireVerifiableCeremony } from '../passkeys/verifiable-ceremony.ts';
import { countUse, wantedPasskey } from '../passkeys/use-passkey.ts';
import type { PasskeyUse } from '../passkeys/webauthn.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvalTerms, requireProof, type VoteProof } from '../passkeys/approval-terms.ts';
import { approvals } from './approvals.ts';
import { withCountedVotes } from './counted-votes.ts';
import { expired, isExpired } from './expire.ts';
import { instant } from './timelock.ts';
import { transition, type ApprovalAction } from './transition.ts';

type ApprovalParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  newEvent: NewEvent;
};

/** Which approval. Its session never changes, so it may be read before the lock. */
export type ApprovalKey = { tenant: TenantId; id: ApprovalId; session: SessionId };

type ApprovalMove = ApprovalKey & {
  /** Who had approved it as the caller read it. Whoever votes about another state is refused. */
  approvedBy: readonly PrincipalId[];
  action: ApprovalAction;
  by: PrincipalId;
  expectedCeremonyHash: Digest;
  /** Sealed, and told to the agent when it is refused. */
  reason?: string | undefined;
  /** The access key that the decider came with: it must be good when the decision commits. */
  accessKey?: AccessKeyId;
  /** What the decision comes with. */
  proof: VoteProof;
  /** What the decider showed: sealed into the boundary record, so that it can be checked offline. */
  evidence: Record<string, PlainJson>;
  /** The passkey that signed: it must be good when the decision commits, and counts this use. */
  passkey?: PasskeyUse;
  /** Checked under the lock, before the move: a signature over what is decided. */
  verify?: (approval: ApprovalRow) => void;
};

type Said = { action: ApprovalAction | 'expire'; verdict: Verdict; reason: ReasonCode };

const said: Record<Said['action'], Said> = {
  approve: { action: 'approve', verdict: 'ALLOW', reason: 'ALLOWED' },
  deny: { action: 'deny', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  revoke: { action: 'revoke', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  break_glass: { action: 'break_glass', verdict: 'ALLOW', reason: 'ALLOWED' },
  expire: { action: 'expire', verdict: 'DENY', reason: 'APPROVAL_EXPIRED' },
};

/** Time is up for an approval without anybody's doing. */
const nobody = 'kernel' as PrincipalId; // within its schema

/**
 * Moves an approval, seals who did it, and tells whoever waits, in one transaction. One that ran out meanwhile becomes `expired`
 * instead. Throws what transition() throws, or NOT_FOUND.
 */
export async function moveApproval(parts: ApprovalParts, move: ApprovalMove): Promise<ApprovalRow> {
  const { tenant, id, session } = move;
  const moved = await parts.ledger.submit({
    chain: { tenant, session },
    wants: [
      wanted(approvals, { tenant, session, id }),
      wanted(approvalTerms, tenant),
      ...[move.by, ...move.approvedBy].map((principal) => wantedIdentity({ tenant, principal }, 'operator')),
      ...wantedCredential(move),
    ],
    conclude: (batch) => {
      const approval = concludeMove(parts, batch, move);
      return () => approval;
    },
  });
  if (moved.state === 'expired')
    throw new AppError('ILLEGAL_TRANSITION', 'The approval has expired', {
      details: { state: 'expired', allowed: [] },
    });
  return moved;
}

/** Ends an approval that nobody decided in time; one that was decided meanwhile is left as it is. */
export async function expireApproval(parts: ApprovalParts, { tenant, id, session }: ApprovalKey): Promise<void> {
  await parts.ledger.submit({
    chain: { tenant, session },
    wants: [wanted(approvals, { tenant, session, id })],
    conclude: (batch) => {
      const approval = found(batch, { tenant, id, session });
      const nowMs = batch.issuedMs({ tenant, session }, parts.clock().getTime());
      if (isExpired(approval, nowMs)) sealExpiry(parts, batch, approval, nowMs);
      return () => undefined;
    },
  });
}

function found(batch: LedgerBatch, { tenant, id, session }: ApprovalKey): ApprovalRow {
  const approval = batch.row(approvals, { tenant, session, id });
  if (approval === null) throw new AppError('NOT_FOUND', 'There is no such approval');
  return approval;
}

function wantedCredential({ tenant, accessKey, passkey }: ApprovalMove): Wanted[] {
  return [
    ...wantedKey(accessKey === undefined ? {} : { accessKey }),
    ...(passkey === undefined ? [] : [wantedPasskey(tenant, passkey)]),
  ];
}

function concludeMove(parts: ApprovalParts, batch: LedgerBatch, move: ApprovalMove): ApprovalRow {
  const approval = found(batch, move);
  const nowMs = batch.issuedMs(move, parts.clock().getTime());
  move.verify?.(approval);
  const { tenant, by: principal, accessKey } = move;
  requireNotRevoked(batch, { tenant, principal });
  if (accessKey !== undefined) requireApproverKey(batch, { id: accessKey, tenant, principal }, nowMs);
  if (isExpired(approval, nowMs)) return sealExpiry(parts, batch, approval, nowMs);
  const { by, evidence, action, reason, passkey } = move;
  requireProof(batch, tenant, { action, proof: move.proof });
  requireSameVoters(approval, move);
  const counted = withCountedVotes(approval, {
    terms: batch.row(approvalTerms, tenant),
    isRevoked: (voter) => isOperatorRevoked(batch, { tenant, principal: voter }),
  });
  const moved = transition(parts.provider, counted, { ...move, nowMs });
  const used =
    passkey === undefined ? [] : [put(passkeys, countUse(batch, { tenant, principal, use: passkey }, nowMs))];
  const facts = {
    ...evidence,
    ...(reason === undefined ? {} : { reason: action === 'break_glass' ? reason.trim() : reason }),
    ceremony_hash: move.expectedCeremonyHash,
  };
  return sealMove(parts, batch, { approval: moved, nowMs, by, facts, used, ...said[action] });
}

/** Only of those whom the caller read does the batch know whether they were revoked. */
function requireSameVoters({ approvedBy }: ApprovalRow, move: ApprovalMove): void {
  if (approvedBy.every((voter) => move.approvedBy.includes(voter))) return;
  throw new AppError('PRECONDITION_FAILED', 'The approval changed since it was read', {
    param: 'expected_ceremony_hash',
  });
}

function sealExpiry(parts: ApprovalParts, batch: LedgerBatch, approval: ApprovalRow, nowMs: number): ApprovalRow {
  const moved = expired(parts.provider, approval, nowMs);
  return sealMove(parts, batch, { approval: moved, nowMs, by: nobody, facts: {}, used: [], ...said.expire });
}

type SaidMove = Said & {
  approval: ApprovalRow;
  nowMs: number;
  by: PrincipalId;
  facts: Record<string, PlainJson>;
  /** What the vote took of its credential. */
  used: Change[];
};

function sealMove(parts: ApprovalParts, batch: LedgerBatch, move: SaidMove): ApprovalRow {
  const { approval } = move;
  batch.seal(announcementStatement(parts.provider, announced(parts, move)), (sealed) => {
    requireVerifiableCeremony(parts.provider, sealed);
    return { changes: [...move.used, put(approvals, approval)], events: eventsOf(parts, move) };
  });
  return approval;
}

function eventsOf(parts: ApprovalParts, { approval, action, by }: SaidMove): OutgoingEvent[] {
  if (approval.state === 'pending') return [];
  const resolved = approvalResolvedEvent(parts, { approval, by: by === nobody ? null : by });
  return action === 'break_glass' ? [glassBrokenEvent(parts, approval), resolved] : [resolved];
}

function announced({ newUlid }: ApprovalParts, { approval, nowMs, by, action, verdict, reason, facts }: SaidMove) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch },
    ulid: newUlid(nowMs),
    at: instant(nowMs),
    principal: by,
    kind: action === 'break_glass' ? ('break_glass' as const) : ('approval' as const),
    action: `approval.${action}`,
    verdict,
    reasonCode: reason,
    approvalId: approval.id,
    facts: {
      ...facts,
      approved_intent_hash: approval.intentHash,
      approved_judged_hash: approval.judgedHash,
      approved_preconditions: approval.preconditions,
      state: approval.state,
      ...(action === 'break_glass' ? { expires_at: instant(approval.expiresAtMs) } : {}),
      ...(approval.timelockUntilMs === null ? {} : { timelock_until: instant(approval.timelockUntilMs) }),
    },
  };
}
