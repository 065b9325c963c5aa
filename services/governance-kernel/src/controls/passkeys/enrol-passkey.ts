import { createHash } from 'node:crypto';
import { AppError, ChallengeId, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { PasskeyAttestation } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url } from '@countersign/crypto';
import { generateRegistrationOptions } from '@simplewebauthn/server';
import { startsPasskeys, type Person } from '../voting/decision-rights.ts';
import { memberRoles } from '../voting/member-roles.ts';
import { approvalTerms, type ApprovalTermsRow } from '../voting/approval-terms.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { requireNotRevoked } from '../identities/operators.ts';
import type { LedgerBatch } from '../../ledger/batch.ts';
import { put, wanted, type Change } from '../../ledger/control.ts';
import { wireOptions } from './ask-to-sign.ts';
import { challengeMs, newNonce, takeChallenge, type ChallengePlace } from './challenges.ts';
import { passkeysMax, type PasskeyDeps } from './passkey-deps.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { algorithms, verifyAttestation, type Attested } from './webauthn.ts';

type Owner = { tenant: TenantId; principal: PrincipalId };

/**
 * Requests a new passkey from the browser of a person. Throws PASSKEYS_UNAVAILABLE, and ILLEGAL_TRANSITION for a person
 * with too many passkeys.
 */
export async function beginEnrolment(deps: PasskeyDeps, owner: Owner) {
  const party = requireRelyingParty(deps.party);
  const living = await deps.listLiving(owner);
  if (living.length >= passkeysMax)
    throw new AppError('ILLEGAL_TRANSITION', `A person keeps at most ${passkeysMax} passkeys`, {
      details: { allowed: ['revoke'] },
    });
  const nowMs = deps.clock().getTime();
  const challenge = newNonce();
  const expiresAtMs = nowMs + challengeMs;
  const id = ChallengeId.parse(`wch_${deps.newUlid(nowMs)}`);
  await deps.challenges.put({ ...placeOf(owner), id, challenge, statement: {}, expiresAtMs });
  const options = await generateRegistrationOptions({
    rpName: 'Countersign',
    rpID: party.id,
    userName: owner.principal,
    userDisplayName: `${owner.principal} (${owner.tenant})`,
    userID: new Uint8Array(userHandle(owner)),
    challenge: new Uint8Array(decodeBase64Url(challenge)),
    timeout: challengeMs,
    attestationType: 'none',
    excludeCredentials: living.map((row) => ({ id: row.id, transports: [...row.transports] })),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
    supportedAlgorithmIDs: [...algorithms],
  });
  return { challenge, options: wireOptions(options), expiresAtMs };
}

type Enrolment = { owner: Owner; by: PrincipalId; asserted: Person['asserted']; attestation: PasskeyAttestation };

/**
 * Enrols the passkey that the browser created. While votes do not require passkeys yet, a passkey of an owner, or of an
 * approver of the installation, is active at once. From then on, votes require passkeys. Every other passkey waits
 * until a person with an active passkey confirms it, so a stolen access key cannot enrol a passkey that signs. A
 * partner's passkey never makes votes require passkeys.
 */
export async function endEnrolment(deps: PasskeyDeps, enrolment: Enrolment): Promise<PasskeyRow> {
  const { owner, by, asserted, attestation } = enrolment;
  const party = requireRelyingParty(deps.party);
  const { challenge } = await takeChallenge(deps, placeOf(owner));
  const attested = await verifyAttestation(attestation, { challenge, party });
  const nowMs = deps.clock().getTime();
  const ulid = deps.newUlid(nowMs);
  const made = { ...attested, ...owner, ulid, transports: attestation.response.transports ?? [], createdBy: by };
  const { tenant } = owner;
  return await deps.ledger.submit({
    chain: { tenant, session: passkeySession },
    wants: [
      wanted(approvalTerms, tenant),
      wanted(memberRoles, tenant),
      wanted(passkeys, { tenant, id: attested.id }),
      wantedIdentity(owner, 'operator'),
    ],
    conclude: (batch) => {
      requireNotRevoked(batch, owner);
      const { passkey, changes } = enrolled(batch, { ...made, holder: { by: owner.principal, asserted } }, nowMs);
      const statement = passkeyStatement(deps.provider, { passkey, by, ulid, nowMs, action: 'passkey.enrol' });
      batch.seal(statement, () => ({ changes }));
      return () => passkey;
    },
  });
}

type Made = Attested & Owner & Pick<PasskeyRow, 'ulid' | 'transports' | 'createdBy'> & { holder: Person };

function enrolled(
  batch: LedgerBatch,
  { holder, ...made }: Made,
  nowMs: number,
): { passkey: PasskeyRow; changes: Change[] } {
  const { tenant, id } = made;
  if (batch.row(passkeys, { tenant, id }) !== null)
    throw new AppError('ALREADY_EXISTS', 'This passkey is already registered. Use it, or register another one');
  const terms = batch.row(approvalTerms, tenant);
  const isFirst = (terms?.passkeysSinceMs ?? null) === null && startsPasskeys(batch.row(memberRoles, tenant), holder);
  const passkey: PasskeyRow = {
    ...made,
    createdAtMs: nowMs,
    activatedAtMs: isFirst ? nowMs : null,
    vouchedBy: null,
    lastUsedAtMs: null,
    revokedAtMs: null,
  };
  const since = isFirst ? [put(approvalTerms, withPasskeys(terms, tenant, nowMs))] : [];
  return { passkey, changes: [...since, put(passkeys, passkey)] };
}

function withPasskeys(terms: ApprovalTermsRow | null, tenant: TenantId, nowMs: number): ApprovalTermsRow {
  const unset = { tenant, version: 0, signaturesOnly: false, breakGlass: false };
  return { ...(terms ?? unset), passkeysSinceMs: nowMs, updatedAtMs: nowMs };
}

function placeOf({ tenant, principal }: Owner): ChallengePlace {
  return { tenant, principal, purpose: 'enrolment', subject: '' };
}

/** The user handle (32 bytes). It identifies the person to the authenticator without containing the name. */
function userHandle({ tenant, principal }: Owner): Buffer {
  return createHash('sha256').update(`${tenant}\n${principal}`).digest();
}
