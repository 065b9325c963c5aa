import { AppError, type Digest, type ManifestId, type PrincipalId, type TenantId } from '@countersign/contracts';
import {
  experimentalForms,
  type EnvelopeForm,
  type EnvelopeManifest,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';
import { canonicalBytes, digestOf } from '@countersign/crypto';
import { receiptIdOf } from '@countersign/receipts';
import { put } from '../ledger/control.ts';
import { ownSession } from '../ledger/own-sessions.ts';
import { settingStatement, type SettingParts } from '../policy/setting-statement.ts';
import { evidenceEnvelopes, type EnvelopeRow } from './evidence-envelopes.ts';
import type { EvidenceSigner } from './evidence-signer.ts';
import { hashedMembers, hashOf } from './manifest.ts';
import { evidenceStatement } from './statement.ts';
import { wrap } from './wrap.ts';

/** Native evidence of a tenant: a receipt, or the receipt of a pack's end statement. */
export type NativeSource = { kind: EnvelopeManifest['native_kind']; receipt: StoredReceipt };

type Parts = SettingParts & {
  evidenceSigner: EvidenceSigner | null;
  logOrigin: string;
  findNative(tenant: TenantId, hash: Digest): Promise<NativeSource | null>;
};

type Wanted = {
  tenant: TenantId;
  by: PrincipalId;
  form: EnvelopeForm;
  nativeHash: Digest;
  subject: string | undefined;
  isExperimental: boolean;
};

/**
 * Signs an envelope around native evidence that exists, and seals its manifest. Throws NOT_FOUND for evidence that the tenant does not have and
 * for a kernel without an evidence key, and INVALID_REQUEST for an experimental form that was not requested as one.
 */
export async function createEnvelope(parts: Parts, wanted: Wanted): Promise<EnvelopeRow> {
  const { provider, evidenceSigner: signer, logOrigin } = parts;
  const { tenant, by, form, nativeHash, isExperimental } = wanted;
  if (experimentalForms.includes(form) && !isExperimental)
    throw new AppError('INVALID_REQUEST', `${form} is experimental. Request it with experimental: true.`, {
      param: 'experimental',
    });
  if (signer === null)
    throw new AppError('NOT_FOUND', 'This kernel has no evidence key, so it signs no envelopes. Configure one.');
  const native = await parts.findNative(tenant, nativeHash);
  if (native === null)
    throw new AppError('NOT_FOUND', 'The tenant has neither an exported pack nor a receipt of this hash', {
      param: 'native_evidence_hash',
    });
  const { kind, receipt } = native;
  const subject = wanted.subject ?? (kind === 'pack' ? 'pack.jsonl' : `${receipt.payload.receipt_id}.json`);
  const statement = canonicalBytes(evidenceStatement({ kind, receipt, evidenceHash: nativeHash, logOrigin }, subject));
  const wrapped = wrap(form, { statement, signer, issuer: logOrigin, subject });
  const chain = { tenant, session: ownSession('trust') };
  const beganMs = parts.clock().getTime();
  return await parts.ledger.submit({
    chain,
    wants: [],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, beganMs);
      const unsealed = {
        ...{ id: `env_${parts.newUlid(nowMs)}` as ManifestId, tenant, form, subject, isExperimental }, // of this form
        ...{ nativeKind: kind, nativeHash, nativeReceiptId: receipt.payload.receipt_id },
        statementHash: digestOf(provider, statement) as Digest, // digestOf writes exactly this form
        ...{ payloadType: wrapped.payloadType, payload: wrapped.payload, keyId: wrapped.keyId },
        payloadHash: hashOf(provider, wrapped.payload),
        ...{ createdBy: by, createdAtMs: nowMs },
      };
      const manifestHash = hashOf(provider, hashedMembers(unsealed));
      const setting = { manifest_hash: manifestHash, native_evidence_hash: nativeHash, envelope: form };
      const sealed = settingStatement(parts, {
        ...{ ...chain, by, nowMs, setting, kind: 'trust', action: 'evidence.envelope.create' },
        resource: `evidence_envelope:${unsealed.id}`,
      });
      const row: EnvelopeRow = { ...unsealed, manifestHash, receiptId: receiptIdOf(sealed.ulid) };
      batch.seal(sealed, () => ({ changes: [put(evidenceEnvelopes, row)] }));
      return () => row;
    },
  });
}
