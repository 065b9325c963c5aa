import { AppError, hasRole, isOwnRequest, type AssertionRole, type PrincipalId } from '@countersign/contracts';
import type { ApprovalDecision } from '@countersign/contracts/governance-kernel';
import { isPersonName, samePerson } from '@countersign/policy';
import { missingProof, type ApprovalTermsRow, type VoteProof } from './approval-terms.ts';
import type { DecidingRole, MemberRolesRow } from './member-roles.ts';

/**
 * The role of a voter: a role of the workspace, or an approver of the installation, who is no member of a workspace.
 */
export type VoterRole = DecidingRole | 'operator';

/** The credential of a vote, and its id. `id` is `null` until it is known which passkey signs. */
export type VoteCredential =
  | { readonly kind: 'operator_bearer' | 'assertion' }
  | { readonly kind: 'access_key' | 'ed25519'; readonly id: string }
  | { readonly kind: 'passkey'; readonly id: string | null };

/** All that decides who decides. It is read under the lock that takes the vote, or from the database to show it. */
export type Electorate = {
  readonly terms: ApprovalTermsRow | null;
  /** `null` when the tenant has no list of members. */
  readonly members: MemberRolesRow | null;
  isRevoked(operator: PrincipalId): boolean;
};

export type Person = {
  readonly by: PrincipalId;
  /** The gateway's word for this person. `null` when it has not spoken. */
  readonly asserted: Asserted | null;
};
export type Voter = Person & { readonly credential: VoteCredential };
type Asserted = { readonly role: AssertionRole; readonly membersVersion: number };

/** Decisions on approvals, and those on passkeys that decide how people vote. */
type Decision = ApprovalDecision | 'start_passkeys' | 'vouch';

type Right = {
  /** The lowest role of a workspace that takes this decision. Approvers of the installation take each one. */
  readonly least: DecidingRole;
  /** The decision as a verb. */
  readonly act: string;
  /** Kinds of credentials that do not take it, and why. */
  readonly not?: Partial<Readonly<Record<VoteCredential['kind'], string>>>;
};

/** Who may take which decision. Every door asks this table: page, bearer, assertion, passkey, signature. */
const decisionRights: Readonly<Record<Decision, Right>> = {
  approve: { least: 'partner', act: 'approve' },
  deny: { least: 'partner', act: 'deny' },
  revoke: { least: 'partner', act: 'withdraw', not: { assertion: 'An assertion opens voting, and revokes nothing' } },
  break_glass: {
    least: 'owner',
    act: 'break the glass',
    not: { operator_bearer: 'The operator key proves no person: break the glass on the page of the approval' },
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
 * Names the credential of a vote within its tenant: a quorum counts each one once. The assertion of a gateway is a credential of the
 * person that it names, and the key of the operators is one credential whatever name it claims.
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

/** The members of an approval that decide who may vote on it. */
type Case = {
  readonly requestedBy: PrincipalId;
  readonly sponsor: PrincipalId | null;
  readonly approvers: readonly PrincipalId[];
};

/**
 * The role in which a voter takes this decision. Throws PASSKEY_REQUIRED for a credential that is too weak, and
 * PERMISSION_DENIED for a role that does not take it. Throws MEMBERS_OUTDATED while the list of members is older than
 * the one that the gateway has read.
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

/** The role in which a person takes a decision, whatever they prove it with. Throws PERMISSION_DENIED and MEMBERS_OUTDATED. */
export function requireRole(members: MemberRolesRow | null, decision: Decision, person: Person): VoterRole {
  const role = currentRole(members, person);
  if (role !== null && isHighEnough(role, decision)) return role;
  const { act, least } = decisionRights[decision];
  const who = least === 'owner' ? 'an owner' : 'an owner or partner';
  throw denied(`It takes ${who} of the workspace to ${act}`);
}

/** Whether the first passkey of this person makes passkeys the only votes of the tenant. Throws MEMBERS_OUTDATED. */
export function startsPasskeys(members: MemberRolesRow | null, person: Person): boolean {
  const role = currentRole(members, person);
  return role !== null && isHighEnough(role, 'start_passkeys');
}

/** The lower one of what the list of members and the gateway's word say. `null` when one of them knows no deciding role. */
function currentRole(members: MemberRolesRow | null, { by, asserted }: Person): VoterRole | null {
  if (asserted !== null && asserted.membersVersion > (members?.version ?? 0))
    throw new AppError('MEMBERS_OUTDATED', 'The kernel has not received the current list of members yet');
  const listed = roleOf(members, by);
  if (asserted === null || listed === null) return listed;
  if (asserted.role !== 'owner' && asserted.role !== 'partner') return null;
  return listed === 'owner' || listed === 'operator' ? asserted.role : listed;
}

/** Throws PERMISSION_DENIED for the requester, for a voter who is not named, and for the sponsor where another person could decide. */
export function requireFourEyes(electorate: Electorate, of: Case, action: ApprovalDecision, voter: Voter): void {
  const { by, credential } = voter;
  if (action === 'revoke') return;
  if (samePerson(by, of.requestedBy)) throw denied('The requester of an approval cannot decide it');
  if (of.approvers.length > 0 && !of.approvers.includes(by))
    throw denied('This approval names its approvers, and the caller is not among them');
  if (action !== 'deny' && isOwn(electorate, of, { by, proof: proofOf(credential) }))
    throw denied('Another owner or partner has to decide: you started this run or made the key of this agent');
}

/** Whether an approving vote of before counts at this moment, by its proof and by what its voter is now. */
export function stillCounts(electorate: Electorate, of: Case, vote: { by: PrincipalId; proof: VoteProof }): boolean {
  if (missingProof(electorate.terms, vote.proof) !== null || electorate.isRevoked(vote.by)) return false;
  const role = roleOf(electorate.members, vote.by);
  return role !== null && isHighEnough(role, 'approve') && !isOwn(electorate, of, vote);
}

/** `null` when this is the name of a person who has no deciding role in the workspace. */
function roleOf(members: MemberRolesRow | null, by: PrincipalId): VoterRole | null {
  if (members === null || !isPersonName(by)) return 'operator';
  return members.roles[by] ?? null;
}

function isHighEnough(role: VoterRole, decision: Decision): boolean {
  return role === 'operator' || hasRole(role, decisionRights[decision].least);
}

/**
 * Whether the request is this voter's own. Without a list of members it is unknown who else could decide, so every proven person is held to
 * it; the key of the operators proves none.
 */
function isOwn(
  { members }: Electorate,
  { requestedBy, sponsor }: Case,
  { by, proof }: { by: PrincipalId; proof: VoteProof },
): boolean {
  const isAnotherEntitled =
    members === null ? proof !== 'claim' : Object.keys(members.roles).some((other) => other !== sponsor);
  const isSponsor = sponsor !== null && samePerson(by, sponsor);
  return isOwnRequest({ isRequester: samePerson(by, requestedBy), isBehind: isSponsor, isAnotherEntitled });
}

function denied(message: string): AppError {
  return new AppError('PERMISSION_DENIED', message);
}
