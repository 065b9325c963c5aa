import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Instant, UserId } from '@countersign/contracts';
import { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';

const owner = UserId.parse(`usr_${'1'.repeat(26)}`);
const orgId = OrgId.parse(`org_${'1'.repeat(26)}`);
const begin = new Date();
let now = begin;

let site: CommercialSite;
beforeAll(async () => {
  const created = Instant.parse('2026-11-01T00:00:00.000Z');
  site = await startCommercialSite({
    now: () => now,
    before: ({ orgs }) => void orgs.push({ org_id: orgId, name: 'Org', admin_id: owner, created_at: created }),
  });
  await until(async () => (await findOrg(site.gateway.context.database.reader, orgId)) !== null);
});
afterAll(() => site?.stop());

it('a customer can cancel a subscription that is older than a month', async () => {
  const params = { tenant_id: orgId };
  const team = { plan_id: BillingPlanId.parse('team'), plan_version: 1 };
  await (await site.as(owner)).putSubscription({ params, body: { plan: team } });
  now = new Date(begin.getTime() + 40 * 86_400_000);
  const { body } = await (await site.as(owner)).putSubscription({ params, body: { plan: null } });
  expect(body).toMatchObject({ subscription: null, invoice_id: expect.any(String) });
});
