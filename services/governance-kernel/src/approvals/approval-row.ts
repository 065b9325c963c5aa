import type {
  ApprovalId,
  Digest,
  EffectLevel,
  PrincipalId,
  ReceiptId,
  SessionId,
  TenantId,
} from '@countersign/contracts';
import type {
  ApprovalPreconditions,
  ApprovalState,
  CappedFacts,
  Demand,
  RecordedIntent,
} from '@countersign/contracts/governance-kernel';
import type { VoteProof } from '../voting/approval-terms.ts';
import type { VoterRole } from '../voting/decision-rights.ts';

/** Times are milliseconds since the epoch. */
export type ApprovalRow = {
  readonly id: ApprovalId;
  readonly tenant: TenantId;
  readonly state: ApprovalState;
  readonly requestedBy: PrincipalId;
  /** The person behind the requester: who made its key or started its run. `null` when that is unknown. */
  readonly sponsor: PrincipalId | null;
  readonly session: SessionId;
  readonly action: string;
  readonly tool: string | null;
  readonly resource: string | null;
  readonly effectLevel: EffectLevel;
  readonly demand: Demand;
  /** The facts of the call that the policy read. */
  readonly facts: RecordedIntent['facts'];
  /** Null where all of them are small enough to be kept. */
  readonly cappedFacts: CappedFacts | null;
  readonly argsHash: Digest;
  /**
   * The arguments for the approver. `null` as soon as the approval is no longer pending. Null as soon as the approval
   * is pending no more.
   */
  readonly argsEncrypted: string | null;
  readonly intentHash: Digest;
  /** The hash of intent, effect, demand and facts, which the approval binds. */
  readonly judgedHash: Digest;
  readonly policyHash: Digest | null;
  readonly policyEpoch: number;
  /** The conditions that must still hold when the call is made. */
  readonly preconditions: ApprovalPreconditions;
  readonly receiptId: ReceiptId | null;
  readonly reason: string;
  readonly quorum: number;
  readonly approvers: readonly PrincipalId[];
  readonly approvedBy: readonly PrincipalId[];
  /** The credential of each of these votes. */
  readonly approvedWith: readonly VoteProof[];
  /** The role of each of these voters when they voted. Empty text for votes from before roles were kept. */
  readonly approvedAs: readonly (VoterRole | '')[];
  /** Which credential each of these votes came with: a quorum counts each one once. */
  readonly approvedCredentials: readonly string[];
  readonly scope: string;
  readonly usesRemaining: number;
  /** The reason of its denial or withdrawal. */
  readonly rejectionReason: string | null;
  /** How long an approved call waits after the last vote; 0: not at all. */
  readonly timelockSeconds: number;
  /** `null` when it is not approved yet, or does not wait. */
  readonly timelockUntilMs: number | null;
  /** The person who approved it alone, with reason and time; `null` when there is none. */
  readonly brokenBy: PrincipalId | null;
  readonly brokenReason: string | null;
  readonly brokenAtMs: number | null;
  /** The credential that broke the glass. */
  readonly brokenWith: VoteProof | null;
  readonly expiresAtMs: number;
  readonly ceremonyHash: Digest;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};
