import {
  instantOf,
  type ApprovalId,
  ChallengeId,
  type Digest,
  type PlainJson,
  type PrincipalId,
  type TenantId,
} from '@countersign/contracts';
import { CeremonyStatement, type PasskeyAssertion } from '@countersign/contracts/governance-kernel';
import { askToSign } from '../passkeys/ask-to-sign.ts';
import { assertionEvidence } from '../passkeys/assertion-evidence.ts';
import { challengeMs, challengeOf, newNonce, takeChallenge, type ChallengePlace } from '../passkeys/challenges.ts';
import type { PasskeyDeps } from '../passkeys/passkey-deps.ts';
import { requireRelyingParty, type RelyingParty } from '../passkeys/relying-party.ts';
import { refused, verifyAssertion, type PasskeyUse } from '../passkeys/webauthn.ts';
import type { ApprovalRow } from './approval-row.ts';
import type { Electorate, Voter } from '../voting/decision-rights.ts';
import { transition } from './transition.ts';

type Question = {
  /** The approval with the votes that count. */
  approval: ApprovalRow;
  electorate: Electorate;
  by: PrincipalId;
  asserted: Voter['asserted'];
  decision: CeremonyStatement['decision'];
  /** The hash of the view that the person saw. */
  expectedCeremonyHash: Digest;
  ttlMs: number;
  /** The signed reason for breaking the glass. */
  reason?: string | undefined;
};

/**
 * Creates a challenge for a person's signed decision on the current state of an approval. Throws the errors of the
 * vote itself, PASSKEY_REQUIRED and PASSKEYS_UNAVAILABLE.
 */
export async function beginVote(deps: PasskeyDeps, question: Question) {
  const party = requireRelyingParty(deps.party);
  const { approval, electorate, by, asserted, decision: action, expectedCeremonyHash, reason } = question;
  const nowMs = deps.clock().getTime();
  transition(deps.provider, approval, {
    ...{ electorate, action, by, credential: { kind: 'passkey', id: null }, asserted },
    ...{ expectedCeremonyHash, nowMs, reason },
  });
  const expiresAtMs = nowMs + Math.min(question.ttlMs, challengeMs);
  const statement = statementOf(question, { party, expiresAtMs });
  const challenge = challengeOf(deps.provider, statement);
  const { tenant } = approval;
  const options = await askToSign(deps, { tenant, principal: by, challenge, party });
  const id = ChallengeId.parse(`wch_${deps.newUlid(nowMs)}`);
  const place = placeOf({ tenant, by, id: approval.id });
  await deps.challenges.put({ ...place, id, challenge, statement, expiresAtMs });
  return { id, challenge, statement, options, createdAtMs: nowMs, expiresAtMs };
}

type Answer = {
  tenant: TenantId;
  by: PrincipalId;
  id: ApprovalId;
  challengeId: ChallengeId;
  assertion: PasskeyAssertion;
};

type SignedVote = { statement: CeremonyStatement; use: PasskeyUse; evidence: Record<string, PlainJson> };

/**
 * Reads the decision that the person signed. A refused answer uses up the challenge too. Throws PASSKEY_REFUSED and
 * PASSKEYS_UNAVAILABLE.
 */
export async function readVote(deps: PasskeyDeps, answer: Answer): Promise<SignedVote> {
  const party = requireRelyingParty(deps.party);
  const { tenant, by, assertion } = answer;
  const challenge = await takeChallenge(deps, placeOf(answer), answer.challengeId);
  const passkey = await deps.findPasskey({ tenant, id: assertion.id });
  if (passkey?.principal !== by) throw refused();
  const use = await verifyAssertion(assertion, { challenge: challenge.challenge, party, passkey });
  const statement = CeremonyStatement.parse(challenge.statement);
  return { statement, use, evidence: assertionEvidence(passkey, assertion, statement) };
}

function statementOf(
  { approval, by, decision, expectedCeremonyHash, reason = '' }: Question,
  { party, expiresAtMs }: { party: RelyingParty; expiresAtMs: number },
): CeremonyStatement {
  return {
    type: 'countersign.approval-ceremony.v1',
    approval_id: approval.id,
    tenant_id: approval.tenant,
    approver_id: by,
    decision,
    ...(decision === 'break_glass' ? { reason: reason.trim() } : {}),
    action: approval.action,
    tool: approval.tool,
    resource: approval.resource,
    effect_level: approval.effectLevel,
    intent_hash: approval.intentHash,
    judged_hash: approval.judgedHash,
    policy_hash: approval.policyHash,
    ceremony_hash: expectedCeremonyHash,
    approval_expires_at: instantOf(approval.expiresAtMs),
    rp_id: party.id,
    origin: party.origin,
    expires_at: instantOf(expiresAtMs),
    nonce: newNonce(),
  };
}

function placeOf({ tenant, by, id }: Pick<Answer, 'tenant' | 'by' | 'id'>): ChallengePlace {
  return { tenant, principal: by, purpose: 'approval', subject: id };
}
