import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Instant, UserId } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { until } from '@countersign/testkit/until';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';

const userOf = (mark: string) => UserId.parse(`usr_${mark.repeat(26)}`);
const orgOf = (mark: string) => OrgId.parse(`org_${mark.repeat(26)}`);
const [owner, operator] = [userOf('1'), userOf('3')];

/** A time in mid-month, so that monthly usage does not depend on the day of the test run. */
const now = new Date('2027-01-15T12:00:00.000Z');

let site: CommercialSite;
let client: CommercialClient;

beforeAll(async () => {
  const org = (mark: string) => ({
    ...{ org_id: orgOf(mark), name: `Org ${mark}`, admin_id: owner },
    created_at: Instant.parse('2026-11-01T00:00:00.000Z'),
  });
  site = await startCommercialSite({
    now: () => now,
    env: { GOV_INSTALLATION_ADMINS: operator },
    before: ({ orgs }) => void orgs.push(org('1'), org('2'), org('3')),
  });
  await until(async () => (await findOrg(site.gateway.context.database.reader, orgOf('3'))) !== null);
  client = await site.as(operator);
});
afterAll(() => site?.stop());

const inDays = (days: number) => Instant.parse(new Date(now.getTime() + days * 86_400_000).toISOString());

/** Counts the audit entries and the events about one subject of an organisation. */
async function recordsOf(org: OrgId, subject: string): Promise<{ audit: number; events: number }> {
  const { reader } = site.gateway.context.database;
  const audit = await reader.auditEntry.count({ where: { scope: org, subject } });
  const events = await reader.outboxMessage.count({ where: { envelope: { contains: `"${subject}"` } } });
  return { audit, events };
}

describe('the administration of organisations', () => {
  it('refuses the administrator of an organisation', async () => {
    const refused = { code: 'PERMISSION_DENIED' };
    const second = await site.as(owner);
    const params = { org_id: orgOf('1') };
    await expect(second.listAdministeredOrgs()).rejects.toMatchObject(refused);
    await expect(second.putOrgSettings({ params, body: { suspension: null, override: null } })).rejects.toMatchObject(
      refused,
    );
    const body = { kind: 'promotional', currency: 'EUR', amount_minor: 1, expires_at: null } as const;
    const credit = { params, body: { ...body, reason: 'Test', reference: 'r' } };
    await expect(second.grantOrgCredit(credit)).rejects.toMatchObject(refused);
    await expect(client.grantOrgCredit({ ...credit, params: { org_id: orgOf('9') } })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });

  it('suspends an organisation, overrides its entitlements, ends the suspension, and records each change once', async () => {
    const params = { org_id: orgOf('1') };
    const terms = { limits: { members: 100, workspaces: null }, capabilities: ['scim' as const] };
    const body = { suspension: { reason: 'Payment fraud' }, override: { ...terms, expires_at: inDays(3) } };
    const first = await client.putOrgSettings({ params, body });
    expect(first.body).toMatchObject({ suspension: { reason: 'Payment fraud', suspended_by: operator } });
    expect(first.body.override).toMatchObject(body.override);
    expect((await client.putOrgSettings({ params, body })).body).toEqual(first.body);
    expect(await recordsOf(orgOf('1'), orgOf('1'))).toEqual({ audit: 1, events: 2 });
    const person = await site.as(owner);
    const runsOf = async () =>
      (await person.getEntitlements({ query: { org_id: orgOf('1') } })).body.limits.concurrent_runs.limit;
    expect(await runsOf()).toBe(0);
    const resumed = await client.putOrgSettings({ params, body: { ...body, suspension: null } });
    expect(resumed.body).toEqual({ suspension: null, override: first.body.override });
    expect(await recordsOf(orgOf('1'), orgOf('1'))).toEqual({ audit: 2, events: 4 });
    expect(await runsOf()).toBeNull();
    const past = { ...body, override: { ...terms, expires_at: inDays(-1) } };
    await expect(client.putOrgSettings({ params, body: past })).rejects.toMatchObject({
      ...{ code: 'INVALID_REQUEST', param: 'override.expires_at' },
    });
    expect((await client.listAdministeredOrgs()).body.data[0]).toMatchObject(resumed.body);
  });

  it('grants a credit once per reference', async () => {
    const params = { org_id: orgOf('2') };
    const body = { kind: 'promotional', currency: 'EUR', amount_minor: 500, expires_at: null } as const;
    const grant = (amount_minor: number) =>
      client.grantOrgCredit({ params, body: { ...body, amount_minor, reason: 'Outage', reference: 'r1' } });
    const first = await grant(500);
    expect(first.body).toMatchObject({ amount_minor: '500', remaining_minor: '500', reason: 'Outage' });
    expect((await grant(500)).body).toEqual(first.body);
    expect(await recordsOf(orgOf('2'), first.body.credit_grant_id)).toEqual({ audit: 1, events: 1 });
    await expect(grant(501)).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' });
  });

  it('lists each organisation once with its plan, usage and metering lag', async () => {
    const time = new Date(now.getTime() - 90_000).toISOString();
    const data = { meter: 'seats', quantity: '4' };
    const event = { specversion: '1.0', type: 'usage.recorded.v1', source: '/gateway', id: 's1', time, data };
    await site.sibling.recordUsageEvents({ body: { tenant_id: orgOf('3'), events: [event] } });
    const first = await client.listAdministeredOrgs({ query: { limit: 2 } });
    expect(first.body.data.map(({ org_id }) => org_id)).toEqual([orgOf('1'), orgOf('2')]);
    const second = await client.listAdministeredOrgs({ query: { limit: 2, cursor: first.body.next_cursor ?? '' } });
    expect(second.body).toMatchObject({
      ...{ data: [{ org_id: orgOf('3'), subscription: null, suspension: null, override: null }], next_cursor: null },
    });
    expect(second.body.data[0]?.usage).toEqual([{ meter: 'seats', quantity: '4' }]);
    expect(second.body.data[0]?.metering_lag_seconds).toBeGreaterThanOrEqual(90);
  });
});
