import type { Instant } from '@countersign/contracts';
import type { CallInFlight, FenceScope, ReceiptPayload } from '@countersign/contracts/governance-kernel';
import type { FenceRow } from '../fences/fence-row.ts';
import { fences } from '../fences/fences.ts';
import { scopesAround, tenantOf } from '../fences/scopes.ts';
import type { Reader } from './database.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** By scope, which stays. */
export async function listFences<Item>(
  reader: Reader,
  { page, item }: { page: PageRequest; item: (fence: FenceRow) => Item },
): Promise<Page<Item>> {
  const after = pageStart(page, /^.{1,400}$/s);
  const rows = await reader.fence.findMany({
    where: after === null ? {} : { scope: { gt: after } },
    orderBy: { scope: 'asc' },
    take: page.limit + 1,
  });
  return pageOf(rows, page.limit, { item: (row) => item(fences.rowOf(asStored(row))), key: (row) => row.scope });
}

export async function findFences(reader: Reader, scopes: readonly FenceScope[]): Promise<FenceRow[]> {
  const rows = await reader.fence.findMany({ where: { scope: { in: [...scopes] } } });
  return rows.map((row) => fences.rowOf(asStored(row)));
}

/** So many of the oldest open calls are looked through; what is behind them is told when these are settled. */
const openMax = 1_000;

type InFlight = { calls: CallInFlight[]; /** There are, or may be, more than these. */ mayBeMore: boolean };

/** Calls in the scope that were sent and are not settled, oldest first. Over all tenants: fences are the system's. */
export async function listCallsInFlight(reader: Reader, scope: FenceScope, limit: number): Promise<InFlight> {
  const tenant = tenantOf(scope);
  const ofTenant = tenant === null ? {} : { tenant_id: tenant };
  const open = await reader.dispatch.findMany({ where: ofTenant, orderBy: { ulid: 'asc' }, take: openMax });
  const decisions = await reader.ledgerEntry.findMany({
    where: { ulid: { in: open.map(({ ulid }) => ulid) } },
    orderBy: { ulid: 'asc' },
    select: { ulid: true, payload: true },
  });
  const deadlines = new Map(open.map(({ ulid, deadline_at: deadline }) => [ulid, deadline]));
  const calls = decisions
    .map(({ ulid, payload }) => ({ sealed: JSON.parse(payload) as ReceiptPayload, deadline: deadlines.get(ulid) })) // by this kernel
    .filter(({ sealed: { tenant_id: tenant, principal_id: principal, tool } }) =>
      scopesAround({ tenant, principal, tools: tool === null ? [] : [tool] }).includes(scope),
    )
    .flatMap(({ sealed, deadline }) => (deadline === undefined ? [] : [inFlight(sealed, deadline)]));
  return { calls: calls.slice(0, limit), mayBeMore: calls.length > limit || open.length === openMax };
}

function inFlight(sealed: ReceiptPayload, deadline: Date): CallInFlight {
  const { decision_id, tenant_id, principal_id, tool, issued_at } = sealed;
  const deadline_at = deadline.toISOString() as Instant; // toISOString writes exactly this form
  return { decision_id, tenant_id, principal_id, tool, issued_at, deadline_at };
}
