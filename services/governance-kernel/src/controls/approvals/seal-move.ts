import { instantOf, AppError } from '@countersign/contracts';
import {
  type ApprovalId,
  type PlainJson,
  PrincipalId,
  type ReasonCode,
  type SessionId,
  type TenantId,
  type Verdict,
} from '@countersign/contracts';
import type { CryptoProvider } from '@countersign/crypto';
import type { NewEvent, OutgoingEvent } from '@countersign/messaging';
import { announcementStatement } from '@countersign/receipts';
import { approvalResolvedEvent, glassBrokenEvent } from '../../events.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, type Change } from '../../ledger/control.ts';
import type { GroupCommit } from '../../ledger/group-commit.ts';
import { requireVerifiableCeremony } from '../passkeys/verifiable-ceremony.ts';
import type { ApprovalRow } from './approval-row.ts';
import { approvals } from './approvals.ts';
import type { ApprovalAction } from './transition.ts';

export type ApprovalDeps = {
  ledger: GroupCommit;
  provider: CryptoProvider;
  clock: () => Date;
  newUlid: (nowMs: number) => string;
  newEvent: NewEvent;
};

/** Identifies an approval. Its session never changes, so it may be read before the lock. */
export type ApprovalKey = { tenant: TenantId; id: ApprovalId; session: SessionId };

type SealedMove = { action: ApprovalAction | 'expire'; verdict: Verdict; reason: ReasonCode };

export const sealedMoves: Record<SealedMove['action'], SealedMove> = {
  approve: { action: 'approve', verdict: 'ALLOW', reason: 'ALLOWED' },
  deny: { action: 'deny', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  revoke: { action: 'revoke', verdict: 'DENY', reason: 'APPROVAL_REJECTED' },
  break_glass: { action: 'break_glass', verdict: 'ALLOW', reason: 'ALLOWED' },
  expire: { action: 'expire', verdict: 'DENY', reason: 'APPROVAL_EXPIRED' },
};

/** The actor when the kernel ends an approval by itself. */
export const nobody = PrincipalId.parse('kernel');

/** Throws NOT_FOUND. */
export function foundIn(batch: LedgerBatch, { tenant, id, session }: ApprovalKey): ApprovalRow {
  const approval = batch.row(approvals, { tenant, session, id });
  if (approval === null) throw new AppError('NOT_FOUND', 'The tenant has no approval with this ID');
  return approval;
}

type SaidMove = SealedMove & {
  approval: ApprovalRow;
  nowMs: number;
  by: PrincipalId;
  facts: Record<string, PlainJson>;
  /** The changes of the credential that was used for the vote. */
  used: Change[];
};

/** Seals one move of an approval with its row and its events. */
export function sealMove(deps: ApprovalDeps, batch: LedgerBatch, move: SaidMove): ApprovalRow {
  const { approval } = move;
  batch.seal(announcementStatement(deps.provider, announced(deps, move)), (sealed) => {
    requireVerifiableCeremony(deps.provider, sealed);
    return { changes: [...move.used, put(approvals, approval)], events: eventsOf(deps, move) };
  });
  return approval;
}

function eventsOf(deps: ApprovalDeps, { approval, action, by }: SaidMove): OutgoingEvent[] {
  if (approval.state === 'pending') return [];
  const resolved = approvalResolvedEvent(deps, { approval, by: by === nobody ? null : by });
  return action === 'break_glass' ? [glassBrokenEvent(deps, approval), resolved] : [resolved];
}

function announced({ newUlid }: ApprovalDeps, { approval, nowMs, by, action, verdict, reason, facts }: SaidMove) {
  const { tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch } = approval;
  return {
    ...{ tenant, session, tool, resource, effectLevel, argsHash, policyHash, policyEpoch },
    ulid: newUlid(nowMs),
    at: instantOf(nowMs),
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
      approved_scope: approval.scope,
      approved_expires_at: instantOf(approval.expiresAtMs),
      approved_preconditions: approval.preconditions,
      state: approval.state,
      ...(action === 'break_glass' ? { expires_at: instantOf(approval.expiresAtMs) } : {}),
      ...(approval.timelockUntilMs === null ? {} : { timelock_until: instantOf(approval.timelockUntilMs) }),
    },
  };
}
