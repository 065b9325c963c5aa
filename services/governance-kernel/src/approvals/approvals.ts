import { AppError } from '@countersign/contracts';
import type {
  ApprovalId,
  Digest,
  Instant,
  PlainJson,
  PrincipalId,
  ReasonCode,
  SessionId,
  TenantId,
  Verdict,
} from '@countersign/contracts';
import { kernelApprovalResolved } from '@countersign/contracts/governance-kernel';
import type { CryptoProvider } from '@countersign/crypto';
import type { NewEvent } from '@countersign/messaging';
import { announcementOf } from '../ledger/announcement.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import type { GroupCommit } from '../ledger/group-commit.ts';
import type { ApprovalRow } from './approval-row.ts';
import { expire, isExpired } from './expire.ts';
import { transition, type ApprovalAction } from './transition.ts';

export type ApprovalParts = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  newEvent: NewEvent;
  rosterHash: Digest;
};

/** Which approval. Its session never changes, so it may be read before the lock. */
export type ApprovalKey = { tenant: TenantId; id: ApprovalId; session: SessionId };

export type ApprovalDecision = ApprovalKey & {
  action: ApprovalAction;
  by: PrincipalId;
  expectedCeremonyHash: Digest;
  /** What the decider showed: sealed into the boundary record, so that it can be checked offline. */
  evidence: Record<string, PlainJson>;
  /** Checked under the lock, before the move: a signature over what is decided. */
  verify?: (approval: ApprovalRow) => void;
};

type Said = { action: ApprovalAction | 'expire'; verdict: Verdict; reason: ReasonCode };

const said: Record<Said['action'], Said> = {
  approve: { action: 'approve', verdict: 'ALLOW', reason: 'ALLOWED' },
  deny: { action: 'deny', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  revoke: { action: 'revoke', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  expire: { action: 'expire', verdict: 'DENY', reason: 'APPROVAL_EXPIRED' },
};

/** Time is up for an approval without anybody's doing. */
const nobody = 'kernel' as PrincipalId; // within its schema

/**
 * Moves an approval, seals who did it, and tells whoever waits, in one transaction. One that ran out meanwhile becomes `expired`
 * instead. Throws what transition() throws, or NOT_FOUND.
 */
export async function decideApproval(parts: ApprovalParts, decision: ApprovalDecision): Promise<ApprovalRow> {
  const { tenant, id, session } = decision;
  const moved = await parts.ledger.submit({
    chain: { tenant, session },
    reads: { approval: { tenant, id } },
    conclude: (batch) => concludeDecision(parts, batch, decision),
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
    reads: { approval: { tenant, id } },
    conclude: (batch) => concludeExpiry(parts, batch, found(batch, { tenant, id }), parts.clock().getTime()),
  });
}

function found(batch: LedgerBatch, { tenant, id }: Pick<ApprovalKey, 'tenant' | 'id'>): ApprovalRow {
  const approval = batch.approval(tenant, id);
  if (approval === null) throw new AppError('NOT_FOUND', 'There is no such approval');
  return approval;
}

function concludeDecision(parts: ApprovalParts, batch: LedgerBatch, decision: ApprovalDecision): ApprovalRow {
  const approval = found(batch, decision);
  const nowMs = parts.clock().getTime();
  decision.verify?.(approval);
  if (concludeExpiry(parts, batch, approval, nowMs)) return { ...approval };
  transition(parts.provider, approval, { ...decision, nowMs });
  const { by, evidence, action } = decision;
  const facts = { ...evidence, ceremony_hash: decision.expectedCeremonyHash };
  recordMove(parts, batch, { approval, nowMs, by, facts, ...said[action] });
  return { ...approval };
}

function concludeExpiry(parts: ApprovalParts, batch: LedgerBatch, approval: ApprovalRow, nowMs: number): boolean {
  if (!isExpired(approval, nowMs)) return false;
  expire(parts.provider, approval, nowMs);
  recordMove(parts, batch, { approval, nowMs, by: nobody, facts: {}, ...said.expire });
  return true;
}

type Move = Said & { approval: ApprovalRow; nowMs: number; by: PrincipalId; facts: Record<string, PlainJson> };

function recordMove(parts: ApprovalParts, batch: LedgerBatch, move: Move): void {
  const { approval } = move;
  batch.append(announcementOf(parts.provider, announced(parts, move)));
  batch.changedApprovals.add(approval);
  if (approval.state !== 'pending') batch.newEvents.push(resolvedEvent(parts, approval));
}

function announced(
  { newUlid, rosterHash }: ApprovalParts,
  { approval, nowMs, by, action, verdict, reason, facts }: Move,
) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch },
    ulid: newUlid(nowMs),
    at: instant(nowMs),
    principal: by,
    kind: 'approval' as const,
    action: `approval.${action}`,
    verdict,
    reasonCode: reason,
    approvalId: approval.id,
    facts: { ...facts, approved_intent_hash: approval.intentHash, state: approval.state },
    rosterHash,
  };
}

function resolvedEvent({ newEvent }: ApprovalParts, approval: ApprovalRow) {
  const data = {
    approval_id: approval.id,
    tenant_id: approval.tenant,
    session_id: approval.session,
    state: approval.state,
    resolved_at: instant(approval.updatedAtMs),
  };
  return newEvent(kernelApprovalResolved, data, { subject: approval.id, tenantid: approval.tenant });
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
