import { approvalsEndedAtOnce, endApprovals } from '@countersign/contracts/governance-kernel';
import { endWithAccess } from '../../controls/approvals/end-approval.ts';
import type { Context } from '../../context.ts';
import { handleSystem } from '../../handle.ts';
import { listUnusedOf } from '../../store/approval-store.ts';

/** Ends unused approvals that a person without access requested, sponsored or approved, a limited number at once. */
export const endApprovalsRoute = (kernel: Context) =>
  handleSystem(endApprovals)(async ({ params: { tenant }, body: { person, reason } }) => {
    const unused = await listUnusedOf(kernel.reader, { tenant, person, now: kernel.clock() }, approvalsEndedAtOnce);
    for (const key of unused) await endWithAccess(kernel, { ...key, person, reason });
    return { ended: unused.length };
  });
