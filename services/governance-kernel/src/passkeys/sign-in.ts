import type { Instant, PrincipalId, TenantId } from '@countersign/contracts';
import type { CredentialId, PasskeyAssertion, SignInStatement } from '@countersign/contracts/governance-kernel';
import { decodeBase64Url } from '@countersign/crypto';
import { generateAuthenticationOptions } from '@simplewebauthn/server';
import { put } from '../ledger/control.ts';
import { wantedIdentity } from '../identities/identities.ts';
import { requireNotRevoked } from '../identities/operators.ts';
import { wireOptions } from './ask-to-sign.ts';
import { challengeMs, challengeOf, newNonce } from './challenges.ts';
import type { PasskeyParts } from './passkey-parts.ts';
import { passkeySession, passkeyStatement } from './passkey-statement.ts';
import { passkeys, type PasskeyRow } from './passkeys.ts';
import { requireRelyingParty } from './relying-party.ts';
import { countUse, wantedPasskey } from './use-passkey.ts';
import { refused, verifyAssertion } from './webauthn.ts';

/**
 * Requests a passkey from the person at a page of the console. Who it is shows in the answer. Throws
 * PASSKEYS_UNAVAILABLE.
 */
export async function beginSignIn({ consoleParty, clock, provider }: PasskeyParts) {
  const party = requireRelyingParty(consoleParty);
  const statement: SignInStatement = {
    type: 'countersign.sign-in.v1',
    rp_id: party.id,
    origin: party.origin,
    expires_at: new Date(clock().getTime() + challengeMs).toISOString() as Instant, // toISOString writes exactly this form
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
 * Whether this person's passkey signed this statement in time; the use is sealed and counted. A passkey that waits for
 * a voucher cannot sign in, and neither can that of a revoked person. Throws PASSKEY_REFUSED.
 */
export async function endSignIn(parts: PasskeyParts, signIn: SignIn): Promise<PasskeyRow> {
  const { tenant, principal, id, statement, assertion } = signIn;
  const party = requireRelyingParty(parts.consoleParty);
  const nowMs = parts.clock().getTime();
  if (statement.rp_id !== party.id || statement.origin !== party.origin || nowMs >= Date.parse(statement.expires_at))
    throw refused();
  const own = await parts.findPasskey({ tenant, id });
  if (own?.principal !== principal) throw refused();
  const challenge = challengeOf(parts.provider, statement);
  const use = await verifyAssertion(assertion, { challenge, party, passkey: own });
  const ulid = parts.newUlid(nowMs);
  return await parts.ledger.submit({
    chain: { tenant, session: passkeySession },
    wants: [wantedPasskey(tenant, use), wantedIdentity({ tenant, principal }, 'operator')],
    conclude: (batch) => {
      requireNotRevoked(batch, { tenant, principal });
      const passkey = countUse(batch, { tenant, principal, use }, nowMs);
      const said = { passkey, by: principal, ulid, nowMs, action: 'passkey.sign_in' } as const;
      batch.seal(passkeyStatement(parts.provider, said), () => ({ changes: [put(passkeys, passkey)] }));
      return () => passkey;
    },
  });
}
