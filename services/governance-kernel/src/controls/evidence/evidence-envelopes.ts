import type { Digest, ManifestId, PrincipalId, ReceiptId, TenantId } from '@countersign/contracts';
import type { EnvelopeForm, EnvelopeManifest, StoredReceipt } from '@countersign/contracts/governance-kernel';
import type { JsonValue } from '@countersign/crypto';
import { bool, columnsOf, instantMs, json, selectByKey, text } from '../../ledger/columns.ts';
import type { Control } from '../../ledger/control.ts';

/** An envelope and its manifest. A row never changes. */
export type EnvelopeRow = {
  readonly id: ManifestId;
  readonly tenant: TenantId;
  readonly form: EnvelopeForm;
  readonly subject: string;
  readonly nativeKind: EnvelopeManifest['native_kind'];
  readonly nativeHash: Digest;
  readonly nativeReceiptId: ReceiptId;
  readonly statementHash: Digest;
  readonly payloadType: string;
  readonly payload: Record<string, JsonValue>;
  readonly payloadHash: Digest;
  readonly keyId: string;
  readonly isExperimental: boolean;
  readonly createdBy: PrincipalId;
  readonly createdAtMs: number;
  readonly receiptId: ReceiptId;
  readonly manifestHash: Digest;
};

/** A published evidence key, active or replaced. */
export type EvidenceKeyRow = {
  key_id: string;
  /** SubjectPublicKeyInfo, DER. */
  public_key: Uint8Array;
  alg: 'ES256' | 'EdDSA';
  valid_from: Date;
  valid_until: Date | null;
  /** `null` when the key is not revoked. */
  revoked_at: Date | null;
};

/** Native evidence of a tenant: a receipt, or the receipt of a pack's end statement. */
export type NativeSource = { kind: EnvelopeManifest['native_kind']; receipt: StoredReceipt };

/** No decision reads an envelope. */
export const evidenceEnvelopes: Control<ManifestId, EnvelopeRow> = {
  name: 'evidence_envelopes',
  guard: 'key',
  ...selectByKey('evidence_envelopes', ['manifest_id']),
  ...columnsOf<EnvelopeRow>({
    id: text('manifest_id'),
    tenant: text('tenant_id'),
    form: text('envelope'),
    subject: text('subject'),
    nativeKind: text('native_kind'),
    nativeHash: text('native_hash'),
    nativeReceiptId: text('native_receipt_id'),
    statementHash: text('statement_hash'),
    payloadType: text('payload_type'),
    payload: json('payload'),
    payloadHash: text('payload_hash'),
    keyId: text('key_id'),
    isExperimental: bool('experimental'),
    createdBy: text('created_by'),
    createdAtMs: instantMs('created_at'),
    receiptId: text('receipt_id'),
    manifestHash: text('manifest_hash'),
  }),
  writes: { table: 'evidence_envelopes', primaryKey: ['manifest_id'], put: { kind: 'insert_once' } },
  keyValues: (id) => [id],
  keyText: (id) => id,
  idOf: ({ id }) => id,
  setsOf: ({ id }) => [id],
};
