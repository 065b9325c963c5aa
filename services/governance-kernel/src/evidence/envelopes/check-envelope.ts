import type { Digest, TenantId } from '@countersign/contracts';
import type { EnvelopeChecks } from '@countersign/contracts/governance-kernel';
import { digestOf, equalBytes, canonicalBytes, type CryptoProvider } from '@countersign/crypto';
import type { EnvelopeRow, EvidenceKeyRow, NativeSource } from '../../controls/evidence/evidence-envelopes.ts';
import { hashedMembers, hashOf } from './manifest.ts';
import { openEnvelope, type OpenedEnvelope } from './open-envelope.ts';
import type { ManifestSeal } from './sealed-manifest.ts';
import { evidenceStatement } from './statement.ts';
import { algorithmOf, signedBytes } from './wrap.ts';

type Deps = {
  provider: CryptoProvider;
  logOrigin: string;
  keys: readonly EvidenceKeyRow[];
  findNative(tenant: TenantId, hash: Digest): Promise<NativeSource | null>;
  /** `null` without a valid receipt of exactly this manifest. */
  findSeal(row: EnvelopeRow): Promise<ManifestSeal | null>;
  /** Uses ECDSA P-256 or Ed25519, depending on the key. */
  verifySignature(key: Uint8Array, signed: { bytes: Uint8Array; signature: Uint8Array; der: boolean }): boolean;
};

/** Verifies all claims of a stored envelope with the log and the published keys. */
export async function checkEnvelope(row: EnvelopeRow, deps: Deps): Promise<EnvelopeChecks> {
  const { provider, logOrigin, keys } = deps;
  const native = await deps.findNative(row.tenant, row.nativeHash);
  const seal = await deps.findSeal(row);
  const opened = openEnvelope(row.form, row.payload);
  const key = keys.find(({ key_id: id, alg }) => id === row.keyId && alg === algorithmOf(row.form));
  const statement =
    native === null
      ? null
      : canonicalBytes(evidenceStatement({ ...native, evidenceHash: row.nativeHash, logOrigin }, row.subject));
  return {
    native_evidence: native !== null && native.kind === row.nativeKind,
    manifest_hash: seal !== null && hashOf(provider, hashedMembers(row)) === row.manifestHash,
    payload_hash: hashOf(provider, row.payload) === row.payloadHash,
    statement:
      opened !== null &&
      statement !== null &&
      digestOf(provider, statement) === row.statementHash &&
      isAsWritten(opened, row, { statement, issuer: logOrigin }),
    signature:
      opened !== null &&
      key !== undefined &&
      deps.verifySignature(key.public_key, { bytes: opened.signed, signature: opened.signature, der: opened.der }),
    key_window: key !== undefined && seal !== null && isWithin(key, seal),
    key_not_revoked:
      key !== undefined &&
      (key.revoked_at === null || (seal !== null && !seal.isRevoked && seal.issuedAtMs < key.revoked_at.getTime())),
  };
}

/** Whether the statement, the protected headers and the key ids are those that the kernel writes. */
function isAsWritten(
  opened: OpenedEnvelope,
  { form, subject, keyId, payloadType }: EnvelopeRow,
  { statement, issuer }: { statement: Uint8Array; issuer: string },
): boolean {
  const written = signedBytes(form, { statement, issuer, subject, keyId });
  return (
    equalBytes(opened.statement, statement) &&
    equalBytes(opened.signed, written.bytes) &&
    opened.keyIds.every((id) => id === keyId) &&
    payloadType === written.payloadType
  );
}

/** The time in the row proves nothing, because the thief of a key can write any time. */
function isWithin({ valid_from: from, valid_until: until }: EvidenceKeyRow, { issuedAtMs }: ManifestSeal): boolean {
  return issuedAtMs >= from.getTime() && (until === null || issuedAtMs < until.getTime());
}
