import type { Digest, TenantId } from '@countersign/contracts';
import type { EnvelopeChecks } from '@countersign/contracts/governance-kernel';
import { digestOf, equalBytes, canonicalBytes, type CryptoProvider } from '@countersign/crypto';
import type { NativeSource } from './create-envelope.ts';
import type { EnvelopeRow } from './evidence-envelopes.ts';
import { hashedMembers, hashOf } from './manifest.ts';
import { openEnvelope } from './open-envelope.ts';
import { evidenceStatement } from './statement.ts';
import { algorithmOf } from './wrap.ts';

/** A published evidence key, also one that was replaced. */
export type EvidenceKeyRow = {
  key_id: string;
  /** SubjectPublicKeyInfo, DER. */
  public_key: Uint8Array;
  alg: 'ES256' | 'EdDSA';
  valid_from: Date;
  valid_until: Date | null;
};

type Parts = {
  provider: CryptoProvider;
  logOrigin: string;
  keys: readonly EvidenceKeyRow[];
  findNative(tenant: TenantId, hash: Digest): Promise<NativeSource | null>;
  /** ECDSA P-256 or Ed25519, as the key is. */
  verifySignature(key: Uint8Array, signed: { bytes: Uint8Array; signature: Uint8Array; der: boolean }): boolean;
};

/** Verifies all that a stored envelope claims, from the log and the published keys. */
export async function checkEnvelope(row: EnvelopeRow, parts: Parts): Promise<EnvelopeChecks> {
  const { provider, logOrigin, keys } = parts;
  const native = await parts.findNative(row.tenant, row.nativeHash);
  const opened = openEnvelope(row.form, row.payload);
  const key = keys.find(({ key_id: id, alg }) => id === row.keyId && alg === algorithmOf(row.form));
  const expected =
    native === null ? null : evidenceStatement({ ...native, evidenceHash: row.nativeHash, logOrigin }, row.subject);
  const at = row.createdAtMs;
  return {
    native_evidence: native !== null && native.kind === row.nativeKind,
    manifest_hash: hashOf(provider, hashedMembers(row)) === row.manifestHash,
    payload_hash: hashOf(provider, row.payload) === row.payloadHash,
    statement:
      opened !== null &&
      expected !== null &&
      equalBytes(opened.statement, canonicalBytes(expected)) &&
      digestOf(provider, opened.statement) === row.statementHash,
    signature:
      opened !== null &&
      key !== undefined &&
      parts.verifySignature(key.public_key, { bytes: opened.signed, signature: opened.signature, der: opened.der }),
    key_window:
      key !== undefined &&
      at >= key.valid_from.getTime() &&
      (key.valid_until === null || at < key.valid_until.getTime()),
  };
}
