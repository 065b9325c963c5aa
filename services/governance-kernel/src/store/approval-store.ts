import type { ApprovalId, SessionId, TenantId } from '@countersign/contracts';
import type { ApprovalState } from '@countersign/contracts/governance-kernel';
import type { ApprovalKey } from '../approvals/approvals.ts';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvalRow, type ApprovalDriverRow } from './locked-rows.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import type { Prisma } from './prisma.ts';

export async function findApproval(
  prisma: Prisma,
  { tenant, id }: { tenant: TenantId; id: ApprovalId },
): Promise<ApprovalRow | null> {
  const row = await prisma.approval.findFirst({ where: { tenant_id: tenant, approval_id: id } });
  return row === null ? null : approvalRow(row as ApprovalDriverRow); // only the kernel writes these rows
}

export type ApprovalFilter = { tenant: TenantId; state?: ApprovalState | undefined; session?: SessionId | undefined };

/** Newest first. */
export async function listApprovals<Item>(
  prisma: Prisma,
  { tenant, state, session }: ApprovalFilter,
  { page, now, item }: { page: PageRequest; now: Date; item: (row: ApprovalRow) => Item },
): Promise<Page<Item>> {
  const before = pageStart(page, /^apr_[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows = await prisma.approval.findMany({
    where: {
      tenant_id: tenant,
      ...(session === undefined ? {} : { session_id: session }),
      ...(before === null ? {} : { approval_id: { lt: before } }),
      ...(state === undefined ? {} : inState(state, now)),
    },
    orderBy: { approval_id: 'desc' },
    take: page.limit + 1,
  });
  return pageOf(rows, page.limit, {
    item: (row) => item(approvalRow(row as ApprovalDriverRow)), // as above
    key: (row) => row.approval_id,
  });
}

/** Pending approvals of all tenants whose time is up, the longest first: the housekeeper serves the kernel. */
export async function listOverdueApprovals(prisma: Prisma, now: Date, limit: number): Promise<ApprovalKey[]> {
  const rows = await prisma.approval.findMany({
    where: { state: 'pending', expires_at: { lte: now } },
    orderBy: { expires_at: 'asc' },
    take: limit,
  });
  return rows
    .map((row) => approvalRow(row as ApprovalDriverRow)) // as above
    .map(({ tenant, id, session }) => ({ tenant, id, session }));
}

/** A pending row whose time is up is expired already, whether or not somebody has touched it. */
function inState(state: ApprovalState, now: Date) {
  if (state === 'pending') return { state, expires_at: { gt: now } };
  if (state === 'expired') return { OR: [{ state }, { state: 'pending', expires_at: { lte: now } }] };
  return { state };
}
