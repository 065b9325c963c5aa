import type { ChallengeId, Instant, PrincipalId, TenantId } from '@countersign/contracts';
import { VoucherStatement, type CredentialId, type PasskeyAssertion } from '@countersign/contracts/governance-kernel';
import { requireRole, type Person } from '../voting/decision-rights.ts';
import { memberRoles } from '../voting/member-roles.ts';
import { put, wanted } from '../ledger/control.ts';
import { askToSign } from './ask-to-sign.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { requireNotRevoked } from '../identities/operators.ts';
import { assertionEvidence } from './assertion-evidence.ts';
import { challengeMs, challengeOf, newNonce, takeChallenge, type ChallengePlace } from './challenges.ts';
import type { PasskeyParts } from './passkey-parts.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { requireVerifiableCeremony } from './verifiable-ceremony.ts';
import { countUse, wantedPasskey } from './use-passkey.ts';
import { requireWaiting } from './waiting.ts';
import { publicKeyOf, refused, verifyAssertion } from './webauthn.ts';

type Voucher = Person & { tenant: TenantId; principal: PrincipalId; id: CredentialId };

/** Asks the caller to sign that exactly this passkey is its owner's. Throws NOT_FOUND, PASSKEY_REQUIRED, ILLEGAL_TRANSITION. */
export async function beginVoucher(parts: PasskeyParts, voucher: Omit<Voucher, 'asserted'>) {
  const party = requireRelyingParty(parts.party);
  const nowMs = parts.clock().getTime();
  const { tenant, by, principal, id } = voucher;
  const waiting = requireWaiting(await parts.findPasskey({ tenant, id }), { principal, nowMs });
  const statement: VoucherStatement = {
    type: 'countersign.passkey-voucher.v1',
    tenant_id: tenant,
    principal_id: principal,
    credential_id: id,
    public_key: publicKeyOf(waiting.publicKey),
    vouched_by: by,
    rp_id: party.id,
    origin: party.origin,
    expires_at: instant(nowMs + challengeMs),
    nonce: newNonce(),
  };
  const challenge = challengeOf(parts.provider, statement);
  const options = await askToSign(parts, { tenant, principal: by, challenge, party });
  const asked = { id: `wch_${parts.newUlid(nowMs)}` as ChallengeId, challenge, statement }; // within its schema
  await parts.challenges.put({ ...placeOf(voucher), ...asked, expiresAtMs: nowMs + challengeMs });
  return { challenge, statement, options, expiresAtMs: nowMs + challengeMs };
}

/** Makes the passkey active, sealed with the assertion. Throws PASSKEY_REFUSED, NOT_FOUND, ILLEGAL_TRANSITION. */
export async function endVoucher(
  parts: PasskeyParts,
  voucher: Voucher & { assertion: PasskeyAssertion },
): Promise<PasskeyRow> {
  const { tenant, by, principal, id, assertion } = voucher;
  const party = requireRelyingParty(parts.party);
  const { challenge, statement } = await takeChallenge(parts, placeOf(voucher));
  const own = await parts.findPasskey({ tenant, id: assertion.id });
  if (own?.principal !== by) throw refused();
  const use = await verifyAssertion(assertion, { challenge, party, passkey: own });
  const evidence = assertionEvidence(own, assertion, VoucherStatement.parse(statement));
  const ulid = parts.newUlid(parts.clock().getTime());
  const chain = { tenant, session: passkeySession };
  return await parts.ledger.submit({
    chain,
    wants: [
      wanted(memberRoles, tenant),
      wanted(passkeys, { tenant, id }),
      wantedPasskey(tenant, use),
      ...[by, principal].map((person) => wantedIdentity({ tenant, principal: person }, 'operator')),
    ],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, parts.clock().getTime());
      requireRole(batch.row(memberRoles, tenant), 'vouch', voucher);
      for (const person of [by, principal]) requireNotRevoked(batch, { tenant, principal: person });
      const waiting = requireWaiting(batch.row(passkeys, { tenant, id }), { principal, nowMs });
      const counted = countUse(batch, { tenant, principal: by, use }, nowMs);
      const passkey = { ...waiting, activatedAtMs: nowMs, vouchedBy: by };
      const said = { passkey, by, ulid, nowMs, action: 'passkey.vouch', evidence } as const;
      batch.seal(passkeyStatement(parts.provider, said), (sealed) => {
        requireVerifiableCeremony(parts.provider, sealed);
        return { changes: [put(passkeys, counted), put(passkeys, passkey)] };
      });
      return () => passkey;
    },
  });
}

function placeOf({ tenant, by, principal, id }: Omit<Voucher, 'asserted'>): ChallengePlace {
  return { tenant, principal: by, purpose: 'voucher', subject: `${principal}\n${id}` };
}

function instant(ms: number): Instant {
  return new Date(ms).toISOString() as Instant; // toISOString writes exactly this form
}
