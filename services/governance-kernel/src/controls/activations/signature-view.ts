import { instantOf } from '@countersign/contracts';
import { ActivationSignature } from '@countersign/contracts/governance-kernel';
import type { SignatureRow } from '../policy/activation-signatures.ts';

export function signatureView(row: SignatureRow): ActivationSignature {
  return ActivationSignature.parse({
    tenant_id: row.tenant,
    decision_id: row.decisionId,
    policy_hash: row.policyHash,
    epoch: row.epoch,
    report_hash: row.reportHash,
    confirmed_at: instantOf(row.confirmedAtMs),
    signature: { alg: 'Ed25519', key_id: row.keyId, value: row.signature },
  });
}
