import { sha256Of, AppError, type Digest, ManifestId, type PrincipalId, type TenantId } from '@countersign/contracts';
import { experimentalForms, type EnvelopeForm } from '@countersign/contracts/governance-kernel';
import { canonicalBytes } from '@countersign/crypto';
import { receiptIdOf } from '@countersign/receipts';
import { put } from '../../ledger/control.ts';
import { keyFaultAt, keyFaultText } from '../../ledger/key-fault.ts';
import { ownSession } from '../../ledger/own-sessions.ts';
import { settingStatement, type SettingDeps } from '../../controls/policy/setting-statement.ts';
import {
  evidenceEnvelopes,
  type EnvelopeRow,
  type EvidenceKeyRow,
  type NativeSource,
} from '../../controls/evidence/evidence-envelopes.ts';
import type { EvidenceSigner } from '../../evidence-signer.ts';
import { hashedMembers, hashOf } from './manifest.ts';
import { manifestFacts, manifestResource } from './sealed-manifest.ts';
import { evidenceStatement } from './statement.ts';
import { algorithmOf, wrap } from './wrap.ts';

type Deps = SettingDeps & {
  evidenceSigner: EvidenceSigner | null;
  /** The published evidence keys. */
  listEvidenceKeys(): Promise<readonly EvidenceKeyRow[]>;
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
 * Signs an envelope for existing native evidence, and seals its manifest. Throws NOT_FOUND for evidence that the
 * tenant does not have and for a kernel without an evidence key, and INVALID_REQUEST for an experimental form that was
 * not requested as such. Throws RECEIPT_STORE_UNAVAILABLE when the evidence key may not sign.
 */
export async function createEnvelope(deps: Deps, wanted: Wanted): Promise<EnvelopeRow> {
  const { provider, evidenceSigner: signer, logOrigin } = deps;
  const { tenant, by, form, nativeHash, isExperimental } = wanted;
  if (experimentalForms.includes(form) && !isExperimental)
    throw new AppError('INVALID_REQUEST', `${form} is experimental. Request it with experimental: true.`, {
      param: 'experimental',
    });
  if (signer === null)
    throw new AppError('NOT_FOUND', 'This kernel has no evidence key, so it signs no envelopes. Configure one.');
  const keyId = signer[algorithmOf(form)].keyId;
  const key = (await deps.listEvidenceKeys()).find(({ key_id: id }) => id === keyId);
  const native = await deps.findNative(tenant, nativeHash);
  if (native === null)
    throw new AppError('NOT_FOUND', 'The tenant has neither an exported pack nor a receipt of this hash', {
      param: 'native_evidence_hash',
    });
  const { kind, receipt } = native;
  const subject = wanted.subject ?? (kind === 'pack' ? 'pack.jsonl' : `${receipt.payload.receipt_id}.json`);
  const statement = canonicalBytes(evidenceStatement({ kind, receipt, evidenceHash: nativeHash, logOrigin }, subject));
  const wrapped = wrap(form, { statement, signer, issuer: logOrigin, subject });
  const chain = { tenant, session: ownSession('trust') };
  const beganMs = deps.clock().getTime();
  return await deps.ledger.submit({
    chain,
    wants: [],
    conclude: (batch) => {
      const nowMs = batch.issuedMs(chain, beganMs);
      assertCounting(keyId, key, nowMs);
      const unsealed = {
        ...{ id: ManifestId.parse(`env_${deps.newUlid(nowMs)}`), tenant, form, subject, isExperimental },
        ...{ nativeKind: kind, nativeHash, nativeReceiptId: receipt.payload.receipt_id },
        statementHash: sha256Of(provider, statement),
        ...{ payloadType: wrapped.payloadType, payload: wrapped.payload, keyId: wrapped.keyId },
        payloadHash: hashOf(provider, wrapped.payload),
        ...{ createdBy: by, createdAtMs: nowMs },
      };
      const manifestHash = hashOf(provider, hashedMembers(unsealed));
      const setting = manifestFacts({ manifestHash, nativeHash, form });
      const sealed = settingStatement(deps, {
        ...{ ...chain, by, nowMs, setting, kind: 'trust', action: 'evidence.envelope.create' },
        resource: manifestResource(unsealed.id),
      });
      const row: EnvelopeRow = { ...unsealed, manifestHash, receiptId: receiptIdOf(sealed.ulid) };
      batch.seal(sealed, () => ({ changes: [put(evidenceEnvelopes, row)] }));
      return () => row;
    },
  });
}

/** Throws RECEIPT_STORE_UNAVAILABLE, since readers would refuse an envelope of this key. */
function assertCounting(keyId: string, key: EvidenceKeyRow | undefined, nowMs: number): void {
  const fault = keyFaultAt(key, new Date(nowMs));
  if (fault === null) return;
  throw new AppError(
    'RECEIPT_STORE_UNAVAILABLE',
    `The evidence key ${keyId} of this kernel ${keyFaultText[fault]}, so no envelope is signed. Replace the key, or add it to the trust list`,
  );
}
