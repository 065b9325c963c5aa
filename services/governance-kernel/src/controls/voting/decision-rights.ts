import { AppError, hasRole, isOwnRequest, type AssertionRole, type PrincipalId } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import { isPersonName, samePerson } from '@countersign/policy';
import { missingProof, type ApprovalTermsRow, type VoteProof } from './approval-terms.ts';
import type { DecidingRole, MemberRolesRow } from './member-roles.ts';

/**
 * The role of a voter: a role of the workspace, or an approver of the installation, who is not a member of a
 * workspace.
 */
export type VoterRole = DecidingRole | 'operator';

/** The credential of a vote, and its id. `id` is `null` until the signing passkey is known. */
export type VoteCredential =
  | { readonly kind: 'operator_bearer' | 'assertion' }
  | { readonly kind: 'access_key' | 'ed25519'; readonly id: string }
  | { readonly kind: 'passkey'; readonly id: string | null };

/**
 * The data that determines who may decide. It is read under the lock of the vote, or from the database to display it.
 */
export type Electorate = {
  readonly terms: ApprovalTermsRow | null;
  /** `null` when the tenant has no list of members. */
  readonly members: MemberRolesRow | null;
  isRevoked(operator: PrincipalId): boolean;
};

export type Person = {
  readonly by: PrincipalId;
  /** The gateway's assertion of this person. `null` when there is none. */
  readonly asserted: Asserted | null;
};
export type Voter = Person & { readonly credential: VoteCredential };
type Asserted = { readonly role: AssertionRole; readonly membersVersion: number };

/** Decisions on approvals, and decisions on the passkeys with which people vote. */
type Decision = ApprovalDecision | 'start_passkeys' | 'vouch';

type Right = {
  /**
   * The lowest role of a workspace that may make this decision. Approvers of the installation may make every decision.
   */
  readonly least: DecidingRole;
  /** The decision as a verb. */
  readonly act: string;
  /** Kinds of credentials that cannot make the decision, and why. */
  readonly not?: Partial<Readonly<Record<VoteCredential['kind'], string>>>;
};

/**
 * The roles and credentials for each decision. Every entry point uses this table: page, bearer, assertion, passkey,
 * signature.
 */
const decisionRights: Readonly<Record<Decision, Right>> = {
  approve: { least: 'partner', act: 'approve' },
  deny: { least: 'partner', act: 'deny' },
  revoke: {
    least: 'partner',
    act: 'withdraw',
    not: { assertion: 'An assertion of the gateway permits votes, but no withdrawal' },
  },
  break_glass: {
    least: 'owner',
    act: 'break the glass',
    not: { operator_bearer: 'The operator key does not prove a person. Break the glass on the page of the approval' },
  },
  start_passkeys: { least: 'owner', act: 'make passkeys the only votes' },
  vouch: { least: 'partner', act: 'vouch for a passkey' },
};

const proofs: Readonly<Record<VoteCredential['kind'], VoteProof>> = {
  operator_bearer: 'claim',
  assertion: 'bearer',
  access_key: 'bearer',
  ed25519: 'signature',
  passkey: 'passkey',
};

export function proofOf({ kind }: VoteCredential): VoteProof {
  return proofs[kind];
}

/**
 * Identifies the credential of a vote within its tenant, since a quorum counts each one once. The assertion of a
 * gateway is a credential of its person, and the operator key is one credential whatever name it claims.
 */
export function credentialName(by: PrincipalId, credential: VoteCredential): string {
  switch (credential.kind) {
    case 'operator_bearer':
      return credential.kind;
    case 'assertion':
      return `assertion:${by}`;
    case 'access_key':
    case 'ed25519':
    case 'passkey':
      return `${credential.kind}:${credential.id ?? ''}`;
    default:
      return credential satisfies never;
  }
}

/** The members of an approval that determine who may vote on it. */
type Case = {
  readonly requestedBy: PrincipalId;
  readonly sponsor: PrincipalId | null;
  readonly approvers: readonly PrincipalId[];
};

/**
 * The role in which a voter makes this decision. Throws PASSKEY_REQUIRED for a credential that is too weak, and
 * PERMISSION_DENIED for a role or credential that may not make the decision. Throws MEMBERS_OUTDATED while the list of
 * members is older than the gateway's list.
 */
export function requireRight(electorate: Electorate, action: ApprovalDecision, voter: Voter): VoterRole {
  const { terms, members } = electorate;
  const { credential } = voter;
  const missing = missingProof(terms, proofOf(credential));
  if (missing !== null) throw new AppError('PASSKEY_REQUIRED', missing);
  if (action === 'break_glass' && terms?.breakGlass !== true) throw denied('Breaking the glass is off in this tenant');
  const refused = decisionRights[action].not?.[credential.kind];
  if (refused !== undefined) throw denied(refused);
  return requireRole(members, action, voter);
}

/**
 * The role in which a person makes a decision, whatever their credential. Throws PERMISSION_DENIED and
 * MEMBERS_OUTDATED.
 */
export function requireRole(members: MemberRolesRow | null, decision: Decision, person: Person): VoterRole {
  const role = currentRole(members, person);
  if (role !== null && isHighEnough(role, decision)) return role;
  const { act, least } = decisionRights[decision];
  const who = least === 'owner' ? 'an owner' : 'an owner or partner';
  throw denied(`Only ${who} of the workspace can ${act}`);
}

/** Whether the first passkey of this person makes passkeys the only votes of the tenant. Throws MEMBERS_OUTDATED. */
export function startsPasskeys(members: MemberRolesRow | null, person: Person): boolean {
  const role = currentRole(members, person);
  return role !== null && isHighEnough(role, 'start_passkeys');
}

/**
 * The lower of the roles in the list of members and in the assertion. `null` when one of these roles may not decide.
 */
function currentRole(members: MemberRolesRow | null, { by, asserted }: Person): VoterRole | null {
  if (asserted !== null && asserted.membersVersion > (members?.version ?? 0))
    throw new AppError('MEMBERS_OUTDATED', 'The kernel has not received the current list of members yet. Try again');
  const listed = roleOf(members, by);
  if (asserted === null || listed === null) return listed;
  if (asserted.role !== 'owner' && asserted.role !== 'partner') return null;
  return listed === 'owner' || listed === 'operator' ? asserted.role : listed;
}

/**
 * Throws PERMISSION_DENIED for the requester, for a voter who is not among the named approvers, and for a sponsor who
 * approves or breaks the glass although another person could. Revoking is not restricted here.
 */
export function requireFourEyes(electorate: Electorate, of: Case, action: ApprovalDecision, voter: Voter): void {
  const { by, credential } = voter;
  if (action === 'revoke') return;
  if (samePerson(by, of.requestedBy)) throw denied('The requester of an approval cannot decide it');
  if (of.approvers.length > 0 && !of.approvers.includes(by))
    throw denied('This approval names its approvers, and the caller is not among them');
  if (action !== 'deny' && isOwn(electorate, of, { by, proof: proofOf(credential) }))
    throw denied('Another owner or partner has to decide: you started this run or made the key of this agent');
}

/** Whether an earlier approving vote counts now, by its proof and by the current role of its voter. */
export function stillCounts(electorate: Electorate, of: Case, vote: { by: PrincipalId; proof: VoteProof }): boolean {
  if (missingProof(electorate.terms, vote.proof) !== null || electorate.isRevoked(vote.by)) return false;
  const role = roleOf(electorate.members, vote.by);
  return role !== null && isHighEnough(role, 'approve') && !isOwn(electorate, of, vote);
}

/** `null` for a person without a deciding role in the workspace. */
function roleOf(members: MemberRolesRow | null, by: PrincipalId): VoterRole | null {
  if (members === null || !isPersonName(by)) return 'operator';
  return members.roles[by] ?? null;
}

function isHighEnough(role: VoterRole, decision: Decision): boolean {
  return role === 'operator' || hasRole(role, decisionRights[decision].least);
}

/**
 * Whether the request is the voter's own. Without a list of members it is unknown who else could decide, so the rule
 * applies to every proven person. The operator key proves no person.
 */
function isOwn(
  { members }: Electorate,
  { requestedBy, sponsor }: Case,
  { by, proof }: { by: PrincipalId; proof: VoteProof },
): boolean {
  const isAnotherEntitled =
    members === null ? proof !== 'claim' : Object.keys(members.roles).some((person) => person !== sponsor);
  const isSponsor = sponsor !== null && samePerson(by, sponsor);
  return isOwnRequest({ isRequester: samePerson(by, requestedBy), isBehind: isSponsor, isAnotherEntitled });
}

function denied(message: string): AppError {
  return new AppError('PERMISSION_DENIED', message);
}
