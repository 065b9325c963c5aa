import { instantOf, sha256Of, type PlainJson, type PrincipalId } from '@countersign/contracts';
import { canonicalBytes, parsePlainObject, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement, type Statement } from '@countersign/receipts';
import { stateOf, type PasskeyRow } from './passkeys.ts';
import { publicKeyOf } from './webauthn.ts';
import { ownSession } from '../../ledger/own-sessions.ts';

/** The chain that records the passkeys of a tenant. */
export const passkeySession = ownSession('passkeys');

type PasskeyAct = {
  passkey: PasskeyRow;
  by: PrincipalId;
  ulid: string;
  nowMs: number;
  action: 'passkey.enrol' | 'passkey.vouch' | 'passkey.accept' | 'passkey.revoke' | 'passkey.sign_in';
  /** The evidence of the action, for offline verification. */
  evidence?: Record<string, PlainJson>;
};

/** A statement about a change of a passkey, or about a sign-in. */
export function passkeyStatement(provider: CryptoProvider, act: PasskeyAct): Statement {
  const { passkey, by, ulid, nowMs, action, evidence = {} } = act;
  const facts = parsePlainObject({
    ...evidence,
    enrolled_credential_id: passkey.id,
    principal_id: passkey.principal,
    enrolled_public_key: publicKeyOf(passkey.publicKey),
    state: stateOf(passkey),
  });
  return announcementStatement(provider, {
    ulid,
    at: instantOf(nowMs),
    tenant: passkey.tenant,
    principal: by,
    session: passkeySession,
    kind: 'trust',
    action,
    tool: null,
    resource: `passkey:${passkey.id}`,
    effectLevel: 'E3',
    verdict: 'ALLOW',
    reasonCode: 'ALLOWED',
    argsHash: sha256Of(provider, canonicalBytes(facts)),
    policyHash: null,
    policyEpoch: 0,
    approvalId: null,
    facts,
  });
}
