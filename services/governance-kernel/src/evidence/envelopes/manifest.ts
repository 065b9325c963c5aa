import { instantOf, sha256Of, type Digest } from '@countersign/contracts';
import type { EnvelopeManifest } from '@countersign/contracts/governance-kernel';
import { canonicalBytes, type CryptoProvider, type JsonValue } from '@countersign/crypto';
import type { EnvelopeRow } from '../../controls/evidence/evidence-envelopes.ts';

/** The members that `manifest_hash` covers. */
type Hashed = Omit<EnvelopeManifest, 'receipt_id' | 'manifest_hash'>;

export function hashedMembers(row: Omit<EnvelopeRow, 'receiptId' | 'manifestHash'>): Hashed {
  return {
    manifest_id: row.id,
    tenant_id: row.tenant,
    envelope: row.form,
    subject: row.subject,
    native_kind: row.nativeKind,
    native_evidence_hash: row.nativeHash,
    native_receipt_id: row.nativeReceiptId,
    statement_hash: row.statementHash,
    payload_type: row.payloadType,
    payload_hash: row.payloadHash,
    key_id: row.keyId,
    experimental: row.isExperimental,
    authoritative: false,
    native_authority: true,
    created_by: row.createdBy,
    created_at: instantOf(row.createdAtMs),
  };
}

export function manifestView(row: EnvelopeRow): EnvelopeManifest {
  return { ...hashedMembers(row), receipt_id: row.receiptId, manifest_hash: row.manifestHash };
}

export function hashOf(provider: CryptoProvider, value: JsonValue): Digest {
  return sha256Of(provider, canonicalBytes(value));
}
