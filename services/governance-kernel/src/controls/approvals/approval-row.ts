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
  /** The person behind the requester, who created its key or started its run. `null` when there is none. */
  readonly sponsor: PrincipalId | null;
  readonly session: SessionId;
  readonly action: string;
  readonly tool: string | null;
  readonly resource: string | null;
  readonly effectLevel: EffectLevel;
  readonly demand: Demand;
  /** The facts of the call that the policy read. */
  readonly facts: RecordedIntent['facts'];
  /** The hashes of facts that are too large to be stored. `null` when there are none. */
  readonly cappedFacts: CappedFacts | null;
  readonly argsHash: Digest;
  /** The arguments for the approver. `null` as soon as the approval is no longer pending. */
  readonly argsEncrypted: string | null;
  readonly intentHash: Digest;
  /** The hash of intent, effect, demand and facts that the approval covers. */
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
  /** The kind of proof of each vote in `approvedBy`. */
  readonly approvedWith: readonly VoteProof[];
  /** The role of each voter in `approvedBy` at their vote. Empty for votes from before roles were stored. */
  readonly approvedAs: readonly (VoterRole | '')[];
  /** The name of the credential of each vote in `approvedBy`. A quorum counts each credential once. */
  readonly approvedCredentials: readonly string[];
  readonly scope: string;
  readonly usesRemaining: number;
  /**
   * The reason for the denial or withdrawal, or a note that a new policy ended the approval. `null` without reason or
   * note.
   */
  readonly rejectionReason: string | null;
  /** The delay of an approved call after the last vote. 0 for none. */
  readonly timelockSeconds: number;
  /** The end of the time lock. `null` before the last vote, without a time lock, and after break glass. */
  readonly timelockUntilMs: number | null;
  /** The person who approved the call alone, by break glass. `null` when no person did. */
  readonly brokenBy: PrincipalId | null;
  readonly brokenReason: string | null;
  readonly brokenAtMs: number | null;
  /** The kind of proof of the person who broke the glass. */
  readonly brokenWith: VoteProof | null;
  readonly expiresAtMs: number;
  readonly ceremonyHash: Digest;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
};
