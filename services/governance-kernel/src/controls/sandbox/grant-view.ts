import { instantOf } from '@countersign/contracts';
import type { SandboxGrant } from '@countersign/contracts/governance-kernel';
import { subjectOf, type SandboxGrantRow } from './sandbox-grants.ts';

export function grantView(row: SandboxGrantRow, nowMs: number): SandboxGrant {
  return {
    ...{ grant_id: row.id, tenant_id: row.tenant, subject: subjectOf(row.subject), ...row.terms },
    grant_hash: row.grantHash,
    state: nowMs < row.expiresAtMs ? 'active' : 'expired',
    created_by: row.createdBy,
    created_at: instantOf(row.createdAtMs),
    expires_at: instantOf(row.expiresAtMs),
    receipt_id: row.receiptId,
  };
}
