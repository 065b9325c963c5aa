import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { BudgetId, Instant, UserId, WorkspaceId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';
import { Peer, refusalOf } from './_peer.ts';

const userId = UserId.parse(`usr_${'1'.repeat(26)}`);
const workspaceId = WorkspaceId.parse(`wsp_${'1'.repeat(26)}`);
const orgId = OrgId.parse(`org_${'1'.repeat(26)}`);
const budget_id = BudgetId.parse('travel');
const occurred_at = Instant.parse('2026-11-28T00:00:00.000Z');
const body = { event_id: 'card-1', budget_id, amount_minor: 250, currency: 'EUR', occurred_at };
const amounts = { tool_calls: 0, spend_minor: 250, egress_bytes: 0, writes: 0 };
const budget = {
  ...{ budget_id, subject: 'tenant', window: 'month', tool_call_limit: null, spend_limit_minor: 200, currency: 'EUR' },
  ...{ egress_limit_bytes: null, write_limit: null, approval_required_above_minor: null, used: amounts },
  reserved: { ...amounts, spend_minor: 0 },
  remaining: { tool_calls: null, spend_minor: -50, egress_bytes: null, writes: null },
  ...{ resets_at: null, version: 3, updated_at: occurred_at },
};

const kernel = new Peer();
let site: CommercialSite;

beforeAll(async () => {
  site = await startCommercialSite({ env: { GOV_GOVERNANCE_URL: await kernel.listen() } });
  await site.gateway.context.transaction((tx) =>
    tx.orgWorkspace.create({ data: { workspaceId, orgId, addedAt: new Date() } }),
  );
});
beforeEach(() => void kernel.calls.splice(0));
afterAll(async () => {
  await site?.stop();
  await kernel.close();
});

const partner = () => site.asBasic({ sub: userId, workspace_id: workspaceId, role: 'partner' });
const auditEntries = () =>
  site.gateway.context.database.reader.auditEntry.findMany({ where: { scope: orgId }, orderBy: { seq: 'asc' } });

describe('budget/record', () => {
  it('counts the usage at the kernel, in the workspace of the caller, and records who reported it', async () => {
    kernel.answer = () => ({ status: 200, body: { event_id: 'card-1', counted: true, budget } });
    const { body: recorded } = await (await partner()).recordSpend({ body });
    expect(recorded).toEqual({ event_id: 'card-1', counted: true, budget });
    const [call] = kernel.calls.filter(({ method }) => method === 'POST');
    const { budget_id: _, ...event } = body;
    expect(call).toMatchObject({ path: `/internal/budgets/${workspaceId}/travel/usage`, body: event });
    expect(await auditEntries()).toMatchObject([{ action: 'spend.recorded', actor: userId, subject: 'travel' }]);
  });

  it('passes on a refusal of the kernel without an audit entry', async () => {
    kernel.answer = () =>
      refusalOf(
        422,
        'IDEMPOTENCY_KEY_REUSED',
        'This event_id was already reported with other data. Use a new event_id',
      );
    const before = await auditEntries();
    await expect((await partner()).recordSpend({ body })).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
    kernel.answer = () => refusalOf(401, 'CREDENTIALS_INVALID', 'The bearer credential is not valid for this route');
    await expect((await partner()).recordSpend({ body })).rejects.toMatchObject({ code: 'GOVERNANCE_UNAVAILABLE' });
    expect(await auditEntries()).toEqual(before);
  });

  it('refuses an amount of zero and an invalid budget name', async () => {
    const client = await partner();
    await expect(client.recordSpend({ body: { ...body, amount_minor: 0 } })).rejects.toMatchObject({
      param: 'amount_minor',
    });
    const foreign = BudgetId.parse('travel').replace('travel', '../x/travel') as BudgetId; // attacker-controlled
    await expect(client.recordSpend({ body: { ...body, budget_id: foreign } })).rejects.toMatchObject({
      param: 'budget_id',
    });
    expect(kernel.calls.filter(({ method }) => method === 'POST')).toEqual([]);
  });
});

it('budget/summary returns the summary of the kernel, requested through the gateway as the caller', async () => {
  site.directory.gatewayReply = () => ({ status: 200, body: { data: [budget], next_cursor: null } });
  const client = await site.asBasic({ sub: userId, workspace_id: workspaceId, role: 'member' });
  const { body: summary } = await client.getSpendSummary({ query: { limit: 10 } });
  expect(summary).toEqual({ data: [budget], next_cursor: null });
  const [call] = site.directory.atGateway.filter(({ url }) => url.startsWith('/api/v1/budgets'));
  expect(call?.headers['x-workspace-id']).toBe(workspaceId);
  const [, claims = ''] = String(call?.headers.authorization).split('.');
  const delegation: unknown = JSON.parse(Buffer.from(claims, 'base64url').toString('utf8'));
  expect(delegation).toMatchObject({ sub: userId, workspace_id: workspaceId, role: 'member' });
});
