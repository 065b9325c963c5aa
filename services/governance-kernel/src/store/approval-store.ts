import {
  AppError,
  type ApprovalId,
  type Digest,
  type PrincipalId,
  type ReceiptId,
  type SessionId,
  type TenantId,
} from '@countersign/contracts';
import type { ApprovalState } from '@countersign/contracts/governance-kernel';
import { encodeTime } from 'ulid';
import type { ApprovalKey } from '../controls/approvals/seal-move.ts';
import type { ApprovalRow } from '../controls/approvals/approval-row.ts';
import { approvals } from '../controls/approvals/approvals.ts';
import { withCountedVotes } from '../controls/approvals/counted-votes.ts';
import { underPolicy } from '../controls/approvals/expire.ts';
import type { ApprovalModel } from '../generated/prisma/models.ts';
import { findReceipt } from './receipt-store.ts';
import { findRevocations } from './identity-store.ts';
import { findApprovalTerms } from './passkey-store.ts';
import type { Electorate } from '../controls/voting/decision-rights.ts';
import { findMemberRoles } from './member-store.ts';
import { findActiveHash } from './policy-store.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import type { Reader } from './database.ts';
import { asStored } from './stored-row.ts';

/**
 * The approval, with the state `expired` if its policy was replaced. The ceremony hash remains the stored one, so that
 * a transition still matches the row and seals the expiry.
 */
async function findApproval(
  reader: Reader,
  { tenant, id }: { tenant: TenantId; id: ApprovalId },
): Promise<ApprovalRow | null> {
  const row = await reader.approval.findFirst({ where: { tenant_id: tenant, approval_id: id } });
  if (row === null) return null;
  return underPolicy(approvals.rowOf(asStored(row)), await findActiveHash(reader, tenant));
}

/** Throws NOT_FOUND, also for an approval of another tenant. */
export async function getApproval(reader: Reader, key: { tenant: TenantId; id: ApprovalId }): Promise<ApprovalRow> {
  const row = await findApproval(reader, key);
  if (row === null) throw new AppError('NOT_FOUND', 'The tenant has no approval with this ID');
  return row;
}

/**
 * The approval that a receipt of the tenant is about. `null` when there is no such receipt, or when it is not about an
 * approval.
 */
export async function findApprovalOf(
  reader: Reader,
  tenant: TenantId,
  receipt: ReceiptId,
): Promise<Pick<ApprovalRow, 'id' | 'session'> | null> {
  const id = (await findReceipt(reader, tenant, receipt))?.payload.approval_id;
  return id === undefined ? null : await findApproval(reader, { tenant, id });
}

/** An approval with the votes that count now, and the data that determines which votes count. Throws NOT_FOUND. */
export async function getCountedApproval(
  reader: Reader,
  key: { tenant: TenantId; id: ApprovalId },
): Promise<{ approval: ApprovalRow; electorate: Electorate }> {
  const approval = await getApproval(reader, key);
  const electorate = await findElectorate(reader, key.tenant, approval.approvedBy);
  return { approval: withCountedVotes(approval, electorate), electorate };
}

/** The data that determines which votes of these principals count. */
async function findElectorate(
  reader: Reader,
  tenant: TenantId,
  principals: readonly PrincipalId[],
): Promise<Electorate> {
  const terms = await findApprovalTerms(reader, tenant);
  const revoked = await findRevocations(reader, { tenant, kind: 'operator', principals });
  const members = await findMemberRoles(reader, tenant);
  return { terms, members, isRevoked: (voter: PrincipalId) => revoked.has(voter) };
}

/** The lowest ID of an approval that was requested at this time or later, since the time begins each ID. */
export const firstApprovalIdAt = (ms: number) => `apr_${encodeTime(ms)}`;

type ApprovalFilter = {
  tenant: TenantId;
  state?: ApprovalState | undefined;
  session?: SessionId | undefined;
  id?: ApprovalId | undefined;
};

type Listing<Item> = {
  page: PageRequest;
  now: Date;
  item: (row: ApprovalRow) => Item;
  /** Omits arguments, which are the largest part of an answer. */
  omitsArgs?: boolean;
};

/** Lists approvals, newest first: as many as fit into one answer with their arguments. */
export async function listApprovals<Item>(
  reader: Reader,
  { tenant, state, session, id }: ApprovalFilter,
  { page, now, item, omitsArgs = false }: Listing<Item>,
): Promise<Page<Item>> {
  const before = pageStart(page, /^apr_[0-9A-HJKMNP-TV-Z]{26}$/);
  const rows: Listed[] = [];
  const activePolicy = await findActiveHash(reader, tenant);
  for (const where of inState(state, { now, activePolicy })) {
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
  const { shown, next } = await withArgs(reader, newestFirst(rows), { limit: page.limit, omitsArgs });
  const read = [...shown, ...next].map((row) => underPolicy(approvals.rowOf(asStored(row)), activePolicy));
  return pageOf(await withVotesOfNow(reader, tenant, read), shown.length, { item, key: ({ id: at }) => at });
}

/** Omits votes that no longer count, since these people may vote again. */
async function withVotesOfNow(reader: Reader, tenant: TenantId, rows: readonly ApprovalRow[]): Promise<ApprovalRow[]> {
  const principals = [...new Set(rows.flatMap(({ state, approvedBy }) => (state === 'pending' ? approvedBy : [])))];
  if (principals.length === 0) return [...rows];
  const electorate = await findElectorate(reader, tenant, principals);
  return rows.map((row) => withCountedVotes(row, electorate));
}

/**
 * Expired pending approvals, the longest overdue first. Reads across all tenants, since the housekeeper serves the
 * whole kernel.
 */
export async function listOverdueApprovals(reader: Reader, now: Date, limit: number): Promise<ApprovalKey[]> {
  const rows = await reader.approval.findMany({
    where: { state: 'pending', expires_at: { lte: now } },
    orderBy: { expires_at: 'asc' },
    take: limit,
  });
  return rows.map((row) => approvals.rowOf(asStored(row))).map(({ tenant, id, session }) => ({ tenant, id, session }));
}

/**
 * Pending and usable approvals that a person, or a key or run of the person, requested. Also those that the person
 * approved, by a vote or by breaking the glass.
 */
export async function listUnusedOf(
  reader: Reader,
  { tenant, person, now }: { tenant: TenantId; person: PrincipalId; now: Date },
  limit: number,
): Promise<ApprovalKey[]> {
  const rows = await reader.approval.findMany({
    where: {
      tenant_id: tenant,
      state: { in: ['pending', 'approved'] },
      expires_at: { gt: now },
      OR: [{ requested_by: person }, { sponsor: person }, { approved_by: { has: person } }, { broken_by: person }],
    },
    orderBy: { approval_id: 'asc' },
    take: limit,
  });
  return rows.map((row) => approvals.rowOf(asStored(row))).map(({ id, session }) => ({ tenant, id, session }));
}

/**
 * Pending and usable approvals whose policy was replaced, of all tenants, the next to expire first. Expired approvals
 * are omitted, since they permit nothing anyway.
 */
export async function listOutdatedApprovals(reader: Reader, now: Date, limit: number): Promise<ApprovalKey[]> {
  return await reader.$queryRaw<ApprovalKey[]>`
    SELECT a.tenant_id AS tenant, a.approval_id AS id, a.session_id AS session
      FROM approvals a
      LEFT JOIN policy_heads own ON own.tenant_id = a.tenant_id
      LEFT JOIN policy_heads shared ON shared.tenant_id = '*'
     WHERE a.state IN ('pending', 'approved') AND a.expires_at > ${now}
       AND a.policy_hash <> coalesce(own.policy_hash, shared.policy_hash)
     ORDER BY a.expires_at LIMIT ${limit}::int`;
}

type Moment = { now: Date; activePolicy: Digest | null };

/**
 * The conditions for a state, each for a separate read, because no index orders the result of an OR. Pending rows count
 * as expired from their expiry on, even before a worker updates them. Pending and approved rows of a replaced policy
 * also count as expired. The order of the reads ensures that a row which changes between two reads is found twice
 * rather than never.
 */
function inState(state: ApprovalState | undefined, { now, activePolicy }: Moment) {
  const current = activePolicy === null ? {} : { OR: [{ policy_hash: null }, { policy_hash: activePolicy }] };
  const outdated = { policy_hash: { not: activePolicy } };
  switch (state) {
    case undefined:
      return [{}];
    case 'pending':
      return [{ state, expires_at: { gt: now }, ...current }];
    case 'approved':
      return [{ state, ...current }];
    case 'expired': {
      const late = [{ state: 'pending', expires_at: { lte: now } }, { state }];
      if (activePolicy === null) return late;
      return [...late, { state: 'pending', ...outdated }, { state: 'approved', ...outdated }];
    }
    default:
      return [{ state }];
  }
}

function newestFirst(rows: readonly Listed[]): Listed[] {
  const byId = new Map(rows.map((row) => [row.approval_id, row]));
  return [...byId.values()].sort((left, right) => (left.approval_id < right.approval_id ? 1 : -1));
}

/** The columns of lists. These omit the arguments, which may have a quarter of a megabyte each. */
type Listed = Omit<ApprovalModel, 'args_encrypted'>;

/**
 * The limit of arguments per answer. They are decrypted, parsed and written at once, so more would delay other
 * requests.
 */
const listedCharactersMax = 400_000;
const readAtOnce = 8;

/**
 * The first of these rows with their arguments, and the row after them. There is at least one, and no more than the
 * limit of one answer permits.
 */
async function withArgs(
  reader: Reader,
  rows: readonly Listed[],
  { limit, omitsArgs }: { limit: number; omitsArgs: boolean },
) {
  const shown: ApprovalModel[] = [];
  let left = listedCharactersMax;
  while (shown.length < Math.min(limit, rows.length)) {
    const few = rows.slice(shown.length, Math.min(shown.length + readAtOnce, limit));
    const args = omitsArgs ? new Map<string, string>() : await argsOf(reader, few);
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
