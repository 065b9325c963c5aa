import { instantOf, type PrincipalId, type TenantId } from '@countersign/contracts';
import type { CredentialId, PasskeyAssertion, SignInStatement } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url } from '@countersign/crypto';
import { generateAuthenticationOptions } from '@simplewebauthn/server';
import { put } from '../../ledger/control.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { requireNotRevoked } from '../identities/operators.ts';
import { wireOptions } from './ask-to-sign.ts';
import { challengeMs, challengeOf, newNonce } from './challenges.ts';
import type { PasskeyDeps } from './passkey-deps.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { countUse, wantedPasskey } from './use-passkey.ts';
import { refused, verifyAssertion } from './webauthn.ts';

/**
 * Requests a passkey from an unknown person at a page of the console. The answer identifies the person. Throws
 * PASSKEYS_UNAVAILABLE.
 */
export async function beginSignIn({ consoleParty, clock, provider }: PasskeyDeps) {
  const party = requireRelyingParty(consoleParty);
  const statement: SignInStatement = {
    type: 'countersign.sign-in.v1',
    rp_id: party.id,
    origin: party.origin,
    expires_at: instantOf(clock().getTime() + challengeMs),
    nonce: newNonce(),
  };
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    challenge: new Uint8Array(decodeBase64Url(challengeOf(provider, statement))),
    timeout: challengeMs,
    userVerification: 'required',
  });
  return { statement, options: wireOptions(options) };
}

type SignIn = {
  tenant: TenantId;
  principal: PrincipalId;
  id: CredentialId;
  statement: SignInStatement;
  assertion: PasskeyAssertion;
};

/**
 * Verifies that this person's passkey signed this statement in time. The use is sealed and counted. Throws
 * PASSKEY_REFUSED, also for an unconfirmed passkey, and PERMISSION_DENIED for a revoked person.
 */
export async function endSignIn(deps: PasskeyDeps, signIn: SignIn): Promise<PasskeyRow> {
  const { tenant, principal, id, statement, assertion } = signIn;
  const party = requireRelyingParty(deps.consoleParty);
  const nowMs = deps.clock().getTime();
  if (statement.rp_id !== party.id || statement.origin !== party.origin || nowMs >= Date.parse(statement.expires_at))
    throw refused();
  const own = await deps.findPasskey({ tenant, id });
  if (own?.principal !== principal) throw refused();
  const challenge = challengeOf(deps.provider, statement);
  const use = await verifyAssertion(assertion, { challenge, party, passkey: own });
  const ulid = deps.newUlid(nowMs);
  return await deps.ledger.submit({
    chain: { tenant, session: passkeySession },
    wants: [wantedPasskey(tenant, use), wantedIdentity({ tenant, principal }, 'operator')],
    conclude: (batch) => {
      requireNotRevoked(batch, { tenant, principal });
      const passkey = countUse(batch, { tenant, principal, use }, nowMs);
      const stated = { passkey, by: principal, ulid, nowMs, action: 'passkey.sign_in' } as const;
      batch.seal(passkeyStatement(deps.provider, stated), () => ({ changes: [put(passkeys, passkey)] }));
      return () => passkey;
    },
  });
}
