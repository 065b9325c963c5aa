import type { TenantId } from '@countersign/contracts';
import { approveByKernel } from '@countersign/contracts/governance-kernel';
import { answer, etag } from '@countersign/service-kit';
import { approvalView } from '../../controls/approvals/approval-view.ts';
import { moveApproval } from '../../controls/approvals/move-approval.ts';
import { requireSameSubject, verifyStatement } from '../../controls/approvals/approver-keys.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { getApproval } from '../../store/approval-store.ts';

/** Approves or denies by the approver's own signature. The service that forwards it is not trusted. */
export const approveByKernelRoute = (kernel: Context) =>
  handleSystem(approveByKernel)(async ({ body }) => {
    const { statement, key_id, signature } = body;
    verifyStatement(kernel.provider, kernel.approverKeys, body);
    const tenant = statement.tenant_id as TenantId; // equals the tenant of an enrolled key
    const approval = await getApproval(kernel.reader, { tenant, id: statement.approval_id });
    const moved = await moveApproval(kernel, {
      tenant,
      id: approval.id,
      session: approval.session,
      approvedBy: approval.approvedBy,
      action: statement.decision,
      by: statement.approver_id,
      expectedCeremonyHash: statement.ceremony_hash,
      credential: { kind: 'ed25519', id: key_id },
      asserted: null,
      evidence: { credential: 'ed25519', key_id, signature, statement },
      verify: (locked) => requireSameSubject(locked, body),
    });
    return answer(200, approvalView(moved, kernel.clock().getTime()), etag(moved.ceremonyHash));
  });
