import {
  ApprovalMoveEvidence,
  AuthenticatorClientData,
  CeremonyEvidence,
  VoucherEvidence,
} from '@countersign/contracts/governance-kernel';
import type { BoundaryRecord } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, decodeBase64Url, encodeBase64Url, parseStrictJson, utf8Bytes } from '@countersign/crypto';
import type { CryptoProvider, JsonValue } from '@countersign/crypto';
import { parseUntrusted } from './parse-untrusted.ts';
import { VerificationError } from './verification-error.ts';

/** Authenticator data up to its counter (Web Authentication §6.1). */
const authenticatorDataBytesMin = 37;
const flagsAt = 32;
const userPresent = 0x01;
const userVerified = 0x04;
const clientDataLimits = { bytesMax: 8_192, depthMax: 8 };

/**
 * Checks a record of a vote, or of a confirmation, by a passkey. The key in the record must have signed the statement
 * in the record, and the statement must agree with the record. Other records are not checked. The sealed enrolment
 * identifies the passkey's owner. Throws {@link VerificationError}: `MALFORMED`, `ASSERTION_MISMATCH` and
 * `ASSERTION_INVALID`.
 */
export function assertCeremony(record: BoundaryRecord, provider: CryptoProvider): void {
  const { kind, intent } = record;
  const byPasskey = intent.facts['credential'] === 'passkey';
  if (byPasskey && (kind === 'approval' || kind === 'break_glass')) assertVote(record, provider);
  // Only a passkey can confirm another passkey.
  if (kind === 'trust' && (byPasskey || intent.action === 'passkey.vouch')) assertVoucher(record, provider);
}

function assertVote(record: BoundaryRecord, provider: CryptoProvider): void {
  const { kind, intent, policy_hash } = record;
  const evidence = parseUntrusted(CeremonyEvidence, intent.facts, 'assertion');
  const { statement } = evidence;
  assertSame([
    ['approval_id', statement.approval_id, record.approval_id],
    ['tenant_id', statement.tenant_id, record.tenant_id],
    ['approver_id', statement.approver_id, record.principal_id],
    ['decision', `approval.${statement.decision}`, intent.action],
    ['tool', statement.tool, intent.tool],
    ['resource', statement.resource, intent.resource],
    ['effect_level', statement.effect_level, intent.effect_level],
    ['intent_hash', statement.intent_hash, evidence.approved_intent_hash],
    ['judged_hash', statement.judged_hash, evidence.approved_judged_hash],
    ['policy_hash', statement.policy_hash, policy_hash],
    ['ceremony_hash', statement.ceremony_hash, evidence.ceremony_hash],
    // The passkey signs the reason of break glass. The reason of a vote is only recorded.
    ['reason', statement.reason ?? null, kind === 'break_glass' ? (evidence.reason ?? null) : null],
  ]);
  assertNotLate(statement.expires_at, record.created_at);
  if (record.created_at >= statement.approval_expires_at)
    throw new VerificationError('ASSERTION_MISMATCH', `the approval had expired at ${statement.approval_expires_at}`);
  const { approved_expires_at: until } = parseUntrusted(ApprovalMoveEvidence, intent.facts, 'move of an approval');
  if (until !== undefined && until > statement.approval_expires_at)
    throw new VerificationError(
      'ASSERTION_MISMATCH',
      `the approval lasts until ${until}, and the passkey signed an earlier end`,
    );
  assertSigned(evidence, provider);
}

function assertVoucher(record: BoundaryRecord, provider: CryptoProvider): void {
  const evidence = parseUntrusted(VoucherEvidence, record.intent.facts, 'assertion');
  const { statement } = evidence;
  assertSame([
    ['action', 'passkey.vouch', record.intent.action],
    ['tenant_id', statement.tenant_id, record.tenant_id],
    ['vouched_by', statement.vouched_by, record.principal_id],
    ['principal_id', statement.principal_id, evidence.principal_id],
    ['credential_id', statement.credential_id, evidence.enrolled_credential_id],
    ['public_key', textOf(statement.public_key), textOf(evidence.enrolled_public_key)],
  ]);
  assertNotLate(statement.expires_at, record.created_at);
  assertSigned(evidence, provider);
}

/** The record must not be later than the expiry of the signed statement. */
function assertNotLate(expiresAt: string, committedAt: string): void {
  if (committedAt > expiresAt)
    throw new VerificationError('ASSERTION_MISMATCH', `the challenge expired at ${expiresAt}, before it was answered`);
}

type Signed = Pick<CeremonyEvidence, 'public_key' | 'client_data_json' | 'authenticator_data' | 'signature'> & {
  statement: { rp_id: string; origin: string };
};

/** Web Authentication §7.2, except for the counter, which only the kernel's database knows. */
function assertSigned(evidence: Signed, provider: CryptoProvider): void {
  const { statement, public_key, client_data_json, authenticator_data, signature } = evidence;
  const clientData = bytesOf(client_data_json);
  const stated = clientDataOf(clientData);
  const challenge = encodeBase64Url(provider.sha256(canonicalBytes(statement))); // parsed above
  if (stated.type !== 'webauthn.get') throw invalid('has client data of a type other than webauthn.get');
  if (stated.challenge !== challenge) throw invalid('answers a challenge other than that of its statement');
  if (stated.origin !== statement.origin || stated.crossOrigin === true)
    throw invalid('was made on or inside a page of a different origin');
  const data = bytesOf(authenticator_data);
  if (data.length < authenticatorDataBytesMin) throw invalid('has too little authenticator data');
  const rpIdHash = encodeBase64Url(provider.sha256(utf8Bytes(statement.rp_id)));
  if (encodeBase64Url(data.slice(0, flagsAt)) !== rpIdHash) throw invalid('was made for a different relying party');
  const flags = data[flagsAt] ?? 0;
  if ((flags & userPresent) === 0 || (flags & userVerified) === 0) throw invalid('was made without verifying a person');
  const signed = joined(data, provider.sha256(clientData));
  if (!provider.verifyWebAuthn(public_key, signed, bytesOf(signature)))
    throw invalid('has a signature that does not verify');
}

function clientDataOf(bytes: Uint8Array): AuthenticatorClientData {
  try {
    return parseUntrusted(AuthenticatorClientData, parseStrictJson(bytes, clientDataLimits), 'client data');
  } catch (error) {
    if (error instanceof VerificationError) throw error;
    throw new VerificationError('MALFORMED', 'the client data of the assertion is not JSON');
  }
}

function bytesOf(text: string): Uint8Array {
  try {
    return decodeBase64Url(text);
  } catch {
    throw new VerificationError('MALFORMED', 'the assertion is not canonical base64url');
  }
}

function assertSame(
  members: readonly (readonly [name: string, signed: string | null, recorded: string | null])[],
): void {
  for (const [name, signed, recorded] of members)
    if (signed !== recorded)
      throw new VerificationError(
        'ASSERTION_MISMATCH',
        `the ${name} that the passkey signed differs from the ${name} in the record`,
      );
}

function textOf(value: object): string {
  return new TextDecoder().decode(canonicalBytes(value as JsonValue)); // parsed by a schema of plain JSON
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(left.length + right.length);
  bytes.set(left);
  bytes.set(right, left.length);
  return bytes;
}

function invalid(what: string): VerificationError {
  return new VerificationError('ASSERTION_INVALID', `the assertion ${what}`);
}
