import type { Digest } from '@countersign/contracts';
import {
  inTotoStatementType,
  nativeEvidencePredicate,
  type EvidenceStatement,
  type NativeEvidence,
  type StoredReceipt,
} from '@countersign/contracts/governance-kernel';

type Native = {
  kind: NativeEvidence['native']['kind'];
  evidenceHash: Digest;
  /** The receipt itself, or the receipt of a pack's end statement. */
  receipt: StoredReceipt;
  logOrigin: string;
};

/**
 * Every form of envelope signs this statement about native evidence. The same evidence and subject give the same
 * statement.
 */
export function evidenceStatement(
  { kind, evidenceHash, receipt, logOrigin }: Native,
  subject: string,
): EvidenceStatement {
  const { payload, signature, receipt_hash, log_index } = receipt;
  return {
    _type: inTotoStatementType,
    subject: [{ name: subject, digest: { sha256: evidenceHash.slice('sha256:'.length) } }],
    predicateType: nativeEvidencePredicate,
    predicate: {
      authoritative: false,
      native: {
        ...{ kind, evidence_hash: evidenceHash, tenant_id: payload.tenant_id, receipt_id: payload.receipt_id },
        ...{ receipt_hash, log_origin: logOrigin, log_index, key_id: signature.key_id, issued_at: payload.issued_at },
      },
      verify_with: 'countersign-verify <export> --keys <keys.json>',
    },
  };
}
