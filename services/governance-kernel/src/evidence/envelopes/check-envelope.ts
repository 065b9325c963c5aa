import type { Digest, TenantId } from '@countersign/contracts';
import type { EnvelopeChecks } from '@countersign/contracts/governance-kernel';
import { digestOf, equalBytes, canonicalBytes, type CryptoProvider } from '@countersign/crypto';
import type { EnvelopeRow, EvidenceKeyRow, NativeSource } from '../../controls/evidence/evidence-envelopes.ts';
import { hashedMembers, hashOf } from './manifest.ts';
import { openEnvelope } from './open-envelope.ts';
import { evidenceStatement } from './statement.ts';
import { algorithmOf } from './wrap.ts';

type Deps = {
  provider: CryptoProvider;
  logOrigin: string;
  keys: readonly EvidenceKeyRow[];
  findNative(tenant: TenantId, hash: Digest): Promise<NativeSource | null>;
  /** When the receipt of the manifest was issued. `null` without a valid receipt of this manifest. */
  findSealedAt(row: EnvelopeRow): Promise<Date | null>;
  /** Uses ECDSA P-256 or Ed25519, depending on the key. */
  verifySignature(key: Uint8Array, signed: { bytes: Uint8Array; signature: Uint8Array; der: boolean }): boolean;
};

/** Verifies all claims of a stored envelope with the log and the published keys. */
export async function checkEnvelope(row: EnvelopeRow, deps: Deps): Promise<EnvelopeChecks> {
  const { provider, logOrigin, keys } = deps;
  const native = await deps.findNative(row.tenant, row.nativeHash);
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
      deps.verifySignature(key.public_key, { bytes: opened.signed, signature: opened.signature, der: opened.der }),
    key_window:
      key !== undefined &&
      at >= key.valid_from.getTime() &&
      (key.valid_until === null || at < key.valid_until.getTime()),
    key_not_revoked:
      key !== undefined && (key.revoked_at === null || (await isSealedBefore(row, key.revoked_at, deps))),
  };
}

/** The time in the row proves nothing here, because the thief of a key can write any time. */
async function isSealedBefore(row: EnvelopeRow, revokedAt: Date, { findSealedAt }: Deps): Promise<boolean> {
  const sealedAt = await findSealedAt(row);
  return sealedAt !== null && sealedAt < revokedAt;
}
