import type { Instant, PlainJson, PrincipalId } from '@countersign/contracts';
import { canonicalBytes, digestOf, parsePlainJson, type CryptoProvider } from '@countersign/crypto';
import { announcementStatement, type Statement } from '@countersign/receipts';
import type { Digest } from '@countersign/contracts';
import { stateOf, type PasskeyRow } from './passkeys.ts';
import { publicKeyOf } from './webauthn.ts';
import { ownSession } from '../ledger/own-sessions.ts';

/** The chain that tells of a tenant's passkeys. */
export const passkeySession = ownSession('passkeys');

type Said = {
  passkey: PasskeyRow;
  by: PrincipalId;
  ulid: string;
  nowMs: number;
  action: 'passkey.enrol' | 'passkey.vouch' | 'passkey.accept' | 'passkey.revoke' | 'passkey.sign_in';
  /** Its evidence, for offline verification. */
  evidence?: Record<string, PlainJson>;
};

/** A statement about a change of a passkey. */
export function passkeyStatement(provider: CryptoProvider, said: Said): Statement {
  const { passkey, by, ulid, nowMs, action, evidence = {} } = said;
  const facts = parsePlainJson({
    ...evidence,
    enrolled_credential_id: passkey.id,
    principal_id: passkey.principal,
    enrolled_public_key: publicKeyOf(passkey.publicKey),
    state: stateOf(passkey),
  }) as Record<string, PlainJson>; // made as an object
  return announcementStatement(provider, {
    ulid,
    at: new Date(nowMs).toISOString() as Instant, // toISOString writes exactly this form
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
    argsHash: digestOf(provider, canonicalBytes(facts)) as Digest, // digestOf writes exactly this form
    policyHash: null,
    policyEpoch: 0,
    approvalId: null,
    facts,
  });
}
