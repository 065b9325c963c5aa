import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { WorkspaceId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { listPlanBudgets } from '../src/store/plan-budgets.ts';
import { applyPlanBudgets } from '../src/plan-limits/apply-plan-budgets.ts';
import { putOrgWorkspace } from '../src/store/orgs.ts';
import { lockEntitlementState, writePublished } from '../src/store/entitlement-states.ts';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';

let orgs = 0;
let orgId: OrgId;
let workspaces: WorkspaceId[];
const leasedUntil = new Date('2027-01-01T00:00:00.000Z');

/** Budgets at the fake kernel by tenant. `beforePut` runs before a request arrives. */
const kernel = new Map<string, { limit: number | null; used: number; version: number }>();
let beforePut: (tenant: string) => void = () => undefined;

let site: CommercialSite;
let context: CommercialSite['gateway']['context'];

beforeAll(async () => {
  site = await startCommercialSite();
  context = {
    ...site.gateway.context,
    kernel: { ...site.gateway.context.kernel, putCeiling: putCeiling as never }, // the members that this rule reads
  };
});
afterAll(() => site?.stop());

beforeEach(async () => {
  kernel.clear();
  orgs += 1;
  orgId = OrgId.parse(`org_${String(orgs).padStart(26, '0')}`);
  workspaces = ['1', '2'].map((mark) => WorkspaceId.parse(`wsp_${mark}${String(orgs).padStart(25, '0')}`));
  beforePut = () => undefined;
  await context.transaction(async (tx) => {
    await lockEntitlementState(tx, orgId);
    await writePublished(tx, orgId, { published: '', at: new Date(0), dueAt: leasedUntil });
  });
});

type Put = { params: { tenant: string }; body: { version: number; tool_call_limit: number | null } };

function putCeiling({ params: { tenant }, body: { version, tool_call_limit: limit } }: Put) {
  beforePut(tenant);
  const used = kernel.get(tenant)?.used ?? 0;
  kernel.set(tenant, { limit, used, version });
  return Promise.resolve({ body: { used: { tool_calls: used }, reserved: { tool_calls: 0 } } });
}

const limits = () => workspaces.map((id) => kernel.get(id)?.limit ?? null);
const apply = (limit: number | null) => applyPlanBudgets(context, { orgId, leasedUntil, limit });

async function addWorkspace(index: number): Promise<void> {
  const added = { workspace_id: workspaces[index] ?? '', org_id: orgId, added_at: '2026-11-01T00:00:00.000Z' };
  await context.transaction((tx) => putOrgWorkspace(tx, added as never)); // typed like a listed workspace
  await context.transaction(async (tx) => {
    await writePublished(tx, orgId, { published: '', at: new Date(0), dueAt: leasedUntil });
  });
}

it('a limit is divided among workspaces without being exceeded at any step, and the confirmed budgets are stored', async () => {
  await addWorkspace(0);
  await apply(10);
  expect(limits()).toEqual([10, null]);
  await addWorkspace(1);
  const first = kernel.get(workspaces[0] ?? '');
  // Calls continue until the kernel has the lower share. The old share is used up by then.
  beforePut = (tenant) => {
    if (tenant === workspaces[0] && first !== undefined) kernel.set(tenant, { ...first, used: 8 });
  };
  await apply(10);
  const reach = [...kernel.values()].reduce((sum, { limit, used }) => sum + Math.max(limit ?? Infinity, used), 0);
  expect(reach).toBeLessThanOrEqual(10);
  expect((await listPlanBudgets(context.database.reader, orgId)).every(({ isConfirmed }) => isConfirmed)).toBe(true);
});

it('a share is sent again until the kernel confirms it, and nothing is sent without a limit', async () => {
  for (const index of workspaces.keys()) await addWorkspace(index);
  await apply(null);
  expect(kernel.size).toBe(0);
  beforePut = () => {
    throw new Error('The kernel is away');
  };
  await expect(apply(10)).rejects.toThrow('away');
  expect((await listPlanBudgets(context.database.reader, orgId)).some(({ isConfirmed }) => !isConfirmed)).toBe(true);
  beforePut = () => undefined;
  await apply(10);
  expect(limits()).toEqual([5, 5]);
});

it('a worker changes nothing while another worker has the organisation', async () => {
  await addWorkspace(0);
  await context.transaction((tx) =>
    writePublished(tx, orgId, { published: '', at: new Date(0), dueAt: new Date(leasedUntil.getTime() + 1) }),
  );
  await expect(apply(10)).rejects.toThrow('Another worker');
  expect(kernel.size).toBe(0);
});
