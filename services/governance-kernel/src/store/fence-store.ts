import type { TenantId } from '@countersign/contracts';
import type { CallInFlight, FenceScope, OrgId } from '@countersign/contracts/governance-kernel';
import type { FenceRow } from '../controls/fences/fence-row.ts';
import { fences } from '../controls/fences/fences.ts';
import { orgOfScope, scopesAround, tenantOf, type Fenced } from '../controls/fences/scopes.ts';
import type { Reader } from './database.ts';
import { callInFlight, listOpenDispatches, openCallsOf, type OpenCall } from './open-calls.ts';
import { pageOf, pageStart, type Page, type PageRequest } from './page.ts';
import { asStored } from './stored-row.ts';

/** Lists fences by scope, which never changes. */
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

type InFlight = { calls: CallInFlight[]; /** Whether there may be more calls than these. */ mayBeMore: boolean };

/**
 * Calls in the scope that were sent and are not settled, oldest first. Reads across all tenants, since fences belong
 * to the system.
 */
export async function listCallsInFlight(reader: Reader, scope: FenceScope, limit: number): Promise<InFlight> {
  const org = orgOfScope(scope);
  const within = org === null ? tenantsOf(scope) : await listTenantsOf(reader, org);
  const { open, areAll } = await listOpenDispatches(reader, within);
  const isCut = !areAll || within?.length === tenantsMax;
  const isWithin = (call: OpenCall) => scopesAround({ ...fencedCall(call), org }).includes(scope);
  const calls = (await openCallsOf(reader, open)).filter(isWithin).map(callInFlight);
  return { calls: calls.slice(0, limit), mayBeMore: calls.length > limit || isCut };
}

function tenantsOf(scope: FenceScope): TenantId[] | null {
  const tenant = tenantOf(scope);
  return tenant === null ? null : [tenant];
}

function fencedCall({ dispatch: { tools }, sealed: { tenant_id: tenant, principal_id: principal } }: OpenCall) {
  return { tenant, principal, tools };
}

/** The stored fences whose scopes contain this caller's calls of these tools, including lifted and expired ones. */
export async function findFencesAround(reader: Reader, caller: Omit<Fenced, 'org'>): Promise<FenceRow[]> {
  const placed = await reader.tenantOrg.findUnique({ where: { tenant_id: caller.tenant }, select: { org_id: true } });
  return await findFences(reader, scopesAround({ ...caller, org: (placed?.org_id ?? null) as OrgId | null })); // the kernel wrote it
}

/** The most tenants of an organisation that one statement searches. */
const tenantsMax = 10_000;

async function listTenantsOf(reader: Reader, org: OrgId): Promise<TenantId[]> {
  const rows = await reader.tenantOrg.findMany({
    where: { org_id: org },
    select: { tenant_id: true },
    take: tenantsMax,
  });
  return rows.map(({ tenant_id }) => tenant_id as TenantId); // the kernel wrote it
}
