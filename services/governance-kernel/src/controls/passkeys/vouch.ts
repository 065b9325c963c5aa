import { instantOf, ChallengeId, type PrincipalId, type TenantId } from '@countersign/contracts';
import { VoucherStatement, type CredentialId, type PasskeyAssertion } from '@countersign/contracts/governance-kernel';
import { requireRole, type Person } from '../voting/decision-rights.ts';
import { memberRoles } from '../voting/member-roles.ts';
import { put, wanted } from '../../ledger/control.ts';
import { askToSign } from './ask-to-sign.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { requireNotRevoked } from '../identities/operators.ts';
import { assertionEvidence } from './assertion-evidence.ts';
import { challengeMs, challengeOf, newNonce, takeChallenge, type ChallengePlace } from './challenges.ts';
import type { PasskeyDeps } from './passkey-deps.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { requireVerifiableCeremony } from './verifiable-ceremony.ts';
import { countUse, wantedPasskey } from './use-passkey.ts';
import { requireWaiting } from './waiting.ts';
import { publicKeyOf, refused, verifyAssertion } from './webauthn.ts';

type Voucher = Person & { tenant: TenantId; principal: PrincipalId; id: CredentialId };

/**
 * Requests the caller's signature that this passkey belongs to its owner. Throws NOT_FOUND, PASSKEY_REQUIRED,
 * ILLEGAL_TRANSITION.
 */
export async function beginVoucher(deps: PasskeyDeps, voucher: Omit<Voucher, 'asserted'>) {
  const party = requireRelyingParty(deps.party);
  const nowMs = deps.clock().getTime();
  const { tenant, by, principal, id } = voucher;
  const waiting = requireWaiting(await deps.findPasskey({ tenant, id }), { principal, nowMs });
  const statement: VoucherStatement = {
    type: 'countersign.passkey-voucher.v1',
    tenant_id: tenant,
    principal_id: principal,
    credential_id: id,
    public_key: publicKeyOf(waiting.publicKey),
    vouched_by: by,
    rp_id: party.id,
    origin: party.origin,
    expires_at: instantOf(nowMs + challengeMs),
    nonce: newNonce(),
  };
  const challenge = challengeOf(deps.provider, statement);
  const options = await askToSign(deps, { tenant, principal: by, challenge, party });
  const row = { id: ChallengeId.parse(`wch_${deps.newUlid(nowMs)}`), challenge, statement };
  await deps.challenges.put({ ...placeOf(voucher), ...row, expiresAtMs: nowMs + challengeMs });
  return { challenge, statement, options, expiresAtMs: nowMs + challengeMs };
}

/**
 * Activates the passkey, sealed with the assertion. Throws PASSKEY_REFUSED, PERMISSION_DENIED, NOT_FOUND,
 * ILLEGAL_TRANSITION.
 */
export async function endVoucher(
  deps: PasskeyDeps,
  voucher: Voucher & { assertion: PasskeyAssertion },
): Promise<PasskeyRow> {
  const { tenant, by, principal, id, assertion } = voucher;
  const party = requireRelyingParty(deps.party);
  const { challenge, statement } = await takeChallenge(deps, placeOf(voucher));
  const own = await deps.findPasskey({ tenant, id: assertion.id });
  if (own?.principal !== by) throw refused();
  const use = await verifyAssertion(assertion, { challenge, party, passkey: own });
  const evidence = assertionEvidence(own, assertion, VoucherStatement.parse(statement));
  const ulid = deps.newUlid(deps.clock().getTime());
  const chain = { tenant, session: passkeySession };
  return await deps.ledger.submit({
    chain,
    wants: [
      wanted(memberRoles, tenant),
      wanted(passkeys, { tenant, id }),
      wantedPasskey(tenant, use),
      ...[by, principal].map((person) => wantedIdentity({ tenant, principal: person }, 'operator')),
    ],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, deps.clock().getTime());
      requireRole(batch.row(memberRoles, tenant), 'vouch', voucher);
      for (const person of [by, principal]) requireNotRevoked(batch, { tenant, principal: person });
      const waiting = requireWaiting(batch.row(passkeys, { tenant, id }), { principal, nowMs });
      const counted = countUse(batch, { tenant, principal: by, use }, nowMs);
      const passkey = { ...waiting, activatedAtMs: nowMs, vouchedBy: by };
      const stated = { passkey, by, ulid, nowMs, action: 'passkey.vouch', evidence } as const;
      batch.seal(passkeyStatement(deps.provider, stated), (sealed) => {
        requireVerifiableCeremony(deps.provider, sealed);
        return { changes: [put(passkeys, counted), put(passkeys, passkey)] };
      });
      return () => passkey;
    },
  });
}

function placeOf({ tenant, by, principal, id }: Omit<Voucher, 'asserted'>): ChallengePlace {
  return { tenant, principal: by, purpose: 'voucher', subject: `${principal}\n${id}` };
}
