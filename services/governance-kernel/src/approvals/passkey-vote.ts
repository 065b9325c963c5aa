import type { ApprovalId, ChallengeId, Digest, PlainJson, PrincipalId, TenantId } from '@countersign/contracts';
import { CeremonyStatement, type PasskeyAssertion } from '@countersign/contracts/governance-kernel';
import { askToSign } from '../passkeys/ask-to-sign.ts';
import { assertionEvidence } from '../passkeys/assertion-evidence.ts';
import { challengeMs, challengeOf, newNonce, takeChallenge, type ChallengePlace } from '../passkeys/challenges.ts';
import type { PasskeyParts } from '../passkeys/passkey-parts.ts';
import { requireRelyingParty, type RelyingParty } from '../passkeys/relying-party.ts';
import { refused, verifyAssertion, type PasskeyUse } from '../passkeys/webauthn.ts';
import type { ApprovalRow } from './approval-row.ts';
import type { Electorate, Voter } from '../voting/decision-rights.ts';
import { instant } from './timelock.ts';
import { transition } from './transition.ts';

type Question = {
  /** With the votes that count. */
  approval: ApprovalRow;
  electorate: Electorate;
  by: PrincipalId;
  asserted: Voter['asserted'];
  decision: CeremonyStatement['decision'];
  /** The hash of the view that was shown. */
  expectedCeremonyHash: Digest;
  ttlMs: number;
  /** The signed reason for breaking the glass. */
  reason?: string | undefined;
};

/** Asks a person to sign one decision on an approval as it is now. Throws what the vote itself would be refused with, and PASSKEY_REQUIRED. */
export async function beginVote(parts: PasskeyParts, question: Question) {
  const party = requireRelyingParty(parts.party);
  const { approval, electorate, by, asserted, decision: action, expectedCeremonyHash, reason } = question;
  const nowMs = parts.clock().getTime();
  transition(parts.provider, approval, {
    ...{ electorate, action, by, credential: { kind: 'passkey', id: null }, asserted },
    ...{ expectedCeremonyHash, nowMs, reason },
  });
  const expiresAtMs = nowMs + Math.min(question.ttlMs, challengeMs);
  const statement = statementOf(question, { party, expiresAtMs });
  const challenge = challengeOf(parts.provider, statement);
  const { tenant } = approval;
  const options = await askToSign(parts, { tenant, principal: by, challenge, party });
  const id = `wch_${parts.newUlid(nowMs)}` as ChallengeId; // within its schema
  const place = placeOf({ tenant, by, id: approval.id });
  await parts.challenges.put({ ...place, id, challenge, statement, expiresAtMs });
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
 * The decision that the person signed. The challenge is consumed in any case. The challenge is gone, whatever comes of
 * it. Throws PASSKEY_REFUSED.
 */
export async function readVote(parts: PasskeyParts, answer: Answer): Promise<SignedVote> {
  const party = requireRelyingParty(parts.party);
  const { tenant, by, assertion } = answer;
  const asked = await takeChallenge(parts, placeOf(answer), answer.challengeId);
  const passkey = await parts.findPasskey({ tenant, id: assertion.id });
  if (passkey?.principal !== by) throw refused();
  const use = await verifyAssertion(assertion, { challenge: asked.challenge, party, passkey });
  const statement = CeremonyStatement.parse(asked.statement);
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
    approval_expires_at: instant(approval.expiresAtMs),
    rp_id: party.id,
    origin: party.origin,
    expires_at: instant(expiresAtMs),
    nonce: newNonce(),
  };
}

function placeOf({ tenant, by, id }: Pick<Answer, 'tenant' | 'by' | 'id'>): ChallengePlace {
  return { tenant, principal: by, purpose: 'approval', subject: id };
}
