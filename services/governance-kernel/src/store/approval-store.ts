import { AppError, type ApprovalId, type SessionId, type TenantId } from '@countersign/contracts';
import type { ApprovalState } from '@countersign/contracts/governance-kernel';
import type { ApprovalKey } from '../approvals/move-approval.ts';
import type { ApprovalRow } from '../approvals/approval-row.ts';
import { approvals } from '../approvals/approvals.ts';
import { withCountedVotes } from '../approvals/counted-votes.ts';
import type { ApprovalModel } from '../generated/prisma/models.ts';
import { findRevocations } from './identity-store.ts';
import { findApprovalTerms } from './passkey-store.ts';
import type { ApprovalTermsRow } from '../passkeys/approval-terms.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

async function findApproval(
  reader: Reader,
  { tenant, id }: { tenant: TenantId; id: ApprovalId },
): Promise<ApprovalRow | null> {
  const row = await reader.approval.findFirst({ where: { tenant_id: tenant, approval_id: id } });
  return row === null ? null : approvals.rowOf(asStored(row));
}

/** Throws NOT_FOUND, also for an approval of another tenant. */
export async function getApproval(reader: Reader, key: { tenant: TenantId; id: ApprovalId }): Promise<ApprovalRow> {
  const row = await findApproval(reader, key);
  if (row === null) throw new AppError('NOT_FOUND', 'There is no such approval');
  return row;
}

/** An approval as a person is shown it: with the votes that count now, and the terms by which they do. Throws NOT_FOUND. */
export async function getCountedApproval(
  reader: Reader,
  key: { tenant: TenantId; id: ApprovalId },
): Promise<{ approval: ApprovalRow; terms: ApprovalTermsRow | null }> {
  const approval = await getApproval(reader, key);
  const terms = await findApprovalTerms(reader, key.tenant);
  const voters = { tenant: key.tenant, kind: 'operator', principals: approval.approvedBy } as const;
  const revoked = await findRevocations(reader, voters);
  return { approval: withCountedVotes(approval, { terms, isRevoked: (voter) => revoked.has(voter) }), terms };
}

type ApprovalFilter = {
  tenant: TenantId;
  state?: ApprovalState | undefined;
  session?: SessionId | undefined;
  id?: ApprovalId | undefined;
};

/** Newest first, and as many as one answer holds with their arguments. */
export async function listApprovals<Item>(
  reader: Reader,
  { tenant, state, session, id }: ApprovalFilter,
  { page, now, item }: { page: PageRequest; now: Date; item: (row: ApprovalRow) => Item },
): Promise<Page<Item>> {
  const before = pageStart(page, /^apr_[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows: Listed[] = [];
  for (const where of inState(state, now)) {
    const found = await reader.approval.findMany({
      where: {
        tenant_id: tenant,
        ...(session === undefined ? {} : { session_id: session }),
        approval_id: { ...(id === undefined ? {} : { equals: id }), ...(before === null ? {} : { lt: before }) },
        ...where,
      },
      omit: { args_encrypted: true },
      orderBy: { approval_id: 'desc' },
      take: page.limit + 1,
    });
    rows.push(...found);
  }
  const { shown, next } = await withArgs(reader, newestFirst(rows), page.limit);
  return pageOf([...shown, ...next], shown.length, {
    item: (row) => item(approvals.rowOf(asStored(row))),
    key: ({ approval_id }: Listed) => approval_id,
  });
}

/** Pending approvals of all tenants whose time is up, the longest first: the housekeeper serves the kernel. */
export async function listOverdueApprovals(reader: Reader, now: Date, limit: number): Promise<ApprovalKey[]> {
  const rows = await reader.approval.findMany({
    where: { state: 'pending', expires_at: { lte: now } },
    orderBy: { expires_at: 'asc' },
    take: limit,
  });
  return rows.map((row) => approvals.rowOf(asStored(row))).map(({ tenant, id, session }) => ({ tenant, id, session }));
}

/**
 * A pending row whose time is up is expired already, whether or not somebody has touched it. Each part is a read of its own, because
 * an index orders no alternatives; a row that moves from one to the next meanwhile is found twice rather than never.
 */
function inState(state: ApprovalState | undefined, now: Date) {
  if (state === undefined) return [{}];
  if (state === 'pending') return [{ state, expires_at: { gt: now } }];
  if (state === 'expired') return [{ state: 'pending', expires_at: { lte: now } }, { state }];
  return [{ state }];
}

function newestFirst(rows: readonly Listed[]): Listed[] {
  const byId = new Map(rows.map((row) => [row.approval_id, row]));
  return [...byId.values()].sort((left, right) => (left.approval_id < right.approval_id ? 1 : -1));
}

/** What is read of many. Arguments may have a quarter of a megabyte each. */
type Listed = Omit<ApprovalModel, 'args_encrypted'>;

/** Little enough that nobody notices the answer being made: all of it is decrypted, parsed and written at once. */
const listedCharactersMax = 400_000;
const readAtOnce = 8;

/** The first of these rows with their arguments, one at least, until they are too much for one answer; and the row after them. */
async function withArgs(reader: Reader, rows: readonly Listed[], limit: number) {
  const shown: ApprovalModel[] = [];
  let left = listedCharactersMax;
  while (shown.length < Math.min(limit, rows.length)) {
    const few = rows.slice(shown.length, Math.min(shown.length + readAtOnce, limit));
    const args = await argsOf(reader, few);
    for (const row of few) {
      const args_encrypted = args.get(row.approval_id) ?? null;
      left -= args_encrypted?.length ?? 0;
      if (left < 0 && shown.length > 0) return { shown, next: [{ ...row, args_encrypted: null }] };
      shown.push({ ...row, args_encrypted });
    }
  }
  return { shown, next: rows.slice(shown.length, shown.length + 1).map((row) => ({ ...row, args_encrypted: null })) };
}

async function argsOf(reader: Reader, rows: readonly Listed[]): Promise<Map<string, string | null>> {
  const ids = rows.filter(({ state }) => state === 'pending').map(({ approval_id }) => approval_id);
  if (ids.length === 0) return new Map();
  const select = { approval_id: true, args_encrypted: true };
  const found = await reader.approval.findMany({ where: { approval_id: { in: ids } }, select });
  return new Map(found.map(({ approval_id, args_encrypted }) => [approval_id, args_encrypted]));
}
