import type { TenantId } from '@countersign/contracts';
import { similarDays, similarMax } from '@countersign/contracts/governance-kernel';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import type { EarlierRequest } from '../controls/approvals/similar-requests.ts';
import { firstApprovalIdAt } from './approval-store.ts';
import type { Reader } from './database.ts';

const dayMs = 24 * 3_600_000;

type Request = Pick<ApprovalRow, 'id' | 'requestedBy' | 'action' | 'tool'> & { tenant: TenantId };

/** Earlier requests of the same agent for the same action and tool, newest first. Pending requests are omitted. */
export function listSimilarApprovals(
  reader: Reader,
  { tenant, id, requestedBy, action, tool }: Request,
  now: Date,
): Promise<EarlierRequest[]> {
  const since = firstApprovalIdAt(now.getTime() - similarDays * dayMs);
  return reader.approval.findMany({
    where: {
      ...{ tenant_id: tenant, requested_by: requestedBy, tool, action },
      approval_id: { gte: since, not: id },
      NOT: { state: 'pending', expires_at: { gt: now } },
    },
    select: { approval_id: true, state: true, quorum: true, approved_by: true, broken_by: true, updated_at: true },
    orderBy: { approval_id: 'desc' },
    take: similarMax + 1,
  });
}
