import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Instant, UserId, WorkspaceId } from '@countersign/contracts';
import { BillingPlanId } from '@countersign/contracts/commercial-gateway';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { encodeBase64Url } from '@countersign/crypto';
import { until } from '@countersign/testkit/until';
import { verifies } from '@countersign/testkit/verifies';
import { planCatalog } from '../src/billing/plan-catalog.ts';
import { putOrg, putOrgWorkspace } from '../src/store/orgs.ts';
import { storePlanVersions } from '../src/store/plan-versions.ts';
import { recordUsage } from '../src/store/usage-events.ts';
import { createSubscription } from '../src/subscriptions/create-subscription.ts';
import { moveSubscription } from '../src/subscriptions/move-subscription.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';
import { daySeconds, issueLicence, issuer, nowMs, stranger, terms } from './_licences.ts';

const ulidOf = (index: number) => `01ARZ3NDEKTSV4RRFFQ69G5${String(index).padStart(3, '0')}`;
const installationAdmin = UserId.parse(`usr_${ulidOf(1)}`);
const owner = UserId.parse(`usr_${ulidOf(2)}`);
const created_at = Instant.parse('2026-11-01T00:00:00.000Z');
const dayMs = daySeconds * 1_000;

let site: CommercialSite;
let now = new Date(nowMs);
let orgs = 0;
let orgId: OrgId;
let admin: CommercialClient;
let person: CommercialClient;

beforeAll(async () => {
  const env = {
    GOV_INSTALLATION_ADMINS: installationAdmin,
    GOV_INSTALLATION_ID: terms.aud,
    GOV_LICENCE_PUBLIC_KEYS: encodeBase64Url(issuer.publicKey),
    GOV_BASE_PLAN: 'free',
  };
  site = await startCommercialSite({ env, now: () => now });
  await site.gateway.context.transaction((tx) => storePlanVersions(tx, planCatalog, now));
});

afterAll(() => site?.stop());

beforeEach(async () => {
  now = new Date(nowMs);
  orgId = await newOrg();
  admin = await site.as(installationAdmin);
  person = await site.as(owner);
});

async function newOrg(): Promise<OrgId> {
  orgs += 1;
  const org_id = OrgId.parse(`org_${ulidOf(orgs)}`);
  await site.gateway.context.transaction((tx) =>
    putOrg(tx, { org_id, name: `Org ${orgs}`, admin_id: owner, created_at }),
  );
  return org_id;
}

let licences = 100;

function licenceOf(claims: object = {}): Promise<string> {
  licences += 1;
  return issueLicence({ claims: { org: orgId, jti: `lic_${ulidOf(licences)}`, ...claims } });
}

const activate = (licence: string) => admin.activateLicence({ body: { licence } });
const begin = (org_id = orgId) => person.beginTrial({ body: { org_id } });
const read = async (org_id = orgId) => (await person.getEntitlements({ query: { org_id } })).body;
const verifyDomain = (domain: string, org = orgId) =>
  site.gateway.context.transaction((tx) =>
    tx.claimedDomain.create({ data: { orgId: org, domain, challenge: 'x', claimedAt: now, verifiedAt: now } }),
  );

/** Returns the causes and plans of the events of the organisation, in order. */
async function changes(org = orgId): Promise<string[]> {
  const { reader } = site.gateway.context.database;
  const rows = await reader.outboxMessage.findMany({
    where: { type: 'entitlement.changed.v1' },
    orderBy: { position: 'asc' },
  });
  return rows
    .map(({ envelope }) => (JSON.parse(envelope) as { data: { org_id: string; cause: string; plan_id: string } }).data) // an event of this service
    .filter((data) => data.org_id === org)
    .map(({ cause, plan_id }) => `${cause}: ${plan_id}`);
}

async function auditedActions(scope = orgId): Promise<string[]> {
  const rows = await site.gateway.context.database.reader.auditEntry.findMany({
    where: { scope },
    orderBy: { seq: 'asc' },
  });
  return rows.map(({ action }) => action);
}

describe('a licence', () => {
  verifies(
    'cg.licence',
    'is verified offline and refused when altered, foreign or expired; a trial starts once and its end deletes nothing',
    async () => {
      await verifyDomain('once.example');
      const text = await licenceOf();
      const altered = text.replace(/\.[^.]+\./, (payload) => payload.replace('e', 'f'));
      for (const [licence, reason] of [
        [altered, 'SIGNATURE'],
        [await issueLicence({ key: stranger }), 'SIGNATURE'],
        [await issueLicence({ key: stranger, header: { kid: stranger.keyId } }), 'UNKNOWN_KEY'],
        [await licenceOf({ aud: 'installation-2' }), 'OTHER_INSTALLATION'],
        [await licenceOf({ org: `org_${ulidOf(999)}` }), 'OTHER_ORGANISATION'],
        [await licenceOf({ iat: terms.iat - 90 * daySeconds, exp: terms.iat - 15 * daySeconds }), 'EXPIRED'],
      ] as const)
        await expect(activate(licence)).rejects.toMatchObject({
          code: 'INVALID_REQUEST',
          param: 'licence',
          details: { reason },
        });
      expect([await changes(), await auditedActions()]).toEqual([[], []]);
      expect(await read()).toMatchObject({ plan_id: 'free', source: 'plan' });

      expect((await begin()).body).toMatchObject({ plan_id: 'team', domains: ['once.example'] });
      expect(await read()).toMatchObject({ plan_id: 'team', source: 'trial' });
      const stored = await tableCounts();
      now = new Date(nowMs + 14 * dayMs);
      person = await site.as(owner);
      expect(await read()).toMatchObject({ plan_id: 'free', source: 'plan' });
      expect(await tableCounts()).toEqual(stored);
      await expect(begin()).rejects.toMatchObject({ code: 'ALREADY_EXISTS', details: { reason: 'TRIAL_USED' } });
      await until(async () => (await changes()).includes('schedule: free'));

      admin = await site.as(installationAdmin);
      expect((await activate(text)).body).toMatchObject({ org_id: orgId, entitlements: { plan_id: 'enterprise' } });
      expect(await read()).toMatchObject({ source: 'licence', limits: { members: { limit: 50, used: null } } });
      expect(await changes()).toEqual(['trial: team', 'schedule: free', 'licence: enterprise']);
      expect(await auditedActions()).toEqual(['trial.started', 'licence.activated']);
    },
  );

  it('changes nothing when it is activated again, and cannot return after another replaced it', async () => {
    const [first, second] = [await licenceOf(), await licenceOf({ plan_id: 'business' })];
    for (const text of [first, first, second]) await activate(text);
    expect(await changes()).toEqual(['licence: enterprise', 'licence: business']);
    await expect(activate(first)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await read()).toMatchObject({ plan_id: 'business' });
  });

  it('applies until the end of its grace period, and is ignored when its stored text was edited', async () => {
    await activate(await licenceOf());
    const endsAt = terms.exp * 1_000 + 14 * dayMs;
    expect(await read()).toMatchObject({ valid_until: new Date(endsAt).toISOString() });
    for (const [ms, plan_id] of [
      [endsAt - 1, 'enterprise'],
      [endsAt, 'free'],
    ] as const) {
      now = new Date(ms);
      person = await site.as(owner);
      expect(await read()).toMatchObject({ plan_id });
    }
    now = new Date(nowMs);
    person = await site.as(owner);
    const text = await issueLicence({ claims: { org: orgId, plan_id: 'forged' }, key: stranger });
    await site.gateway.context.transaction((tx) => tx.licence.updateMany({ where: { orgId }, data: { text } }));
    expect(await read()).toMatchObject({ plan_id: 'free' });
  });

  it('is activated only by an installation administrator', async () => {
    const body = { licence: await licenceOf() };
    await expect(person.activateLicence({ body })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
    const stale = await site.as(installationAdmin, 301);
    await expect(stale.activateLicence({ body })).rejects.toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
    expect(await changes()).toEqual([]);
  });
});

async function tableCounts(): Promise<number[]> {
  const { reader } = site.gateway.context.database;
  const where = { orgId };
  return [
    await reader.trial.count({ where }),
    await reader.trialDomain.count({ where }),
    await reader.claimedDomain.count({ where }),
    await reader.auditEntry.count({ where: { scope: orgId } }),
  ];
}

describe('a trial', () => {
  it('requires a verified domain', async () => {
    await expect(begin()).rejects.toMatchObject({
      code: 'GATE_NOT_PASSED',
      details: { reason: 'DOMAIN_NOT_VERIFIED' },
    });
    expect(await changes()).toEqual([]);
  });

  it('begins once for an organisation and once for a domain, even with ten concurrent requests', async () => {
    await verifyDomain('shared.example');
    const begun = await Promise.allSettled(Array.from({ length: 10 }, () => begin()));
    expect(begun.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await changes()).toEqual(['trial: team']);
    await site.gateway.context.transaction((tx) => tx.claimedDomain.deleteMany({ where: { orgId } }));
    const second = await newOrg();
    await verifyDomain('shared.example', second);
    await expect(begin(second)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
    expect(await read(second)).toMatchObject({ plan_id: 'free' });
  });

  it('does not begin while a licence is in force', async () => {
    await verifyDomain('licensed.example');
    await activate(await licenceOf());
    await expect(begin()).rejects.toMatchObject({ code: 'ILLEGAL_TRANSITION' });
    expect(await changes()).toEqual(['licence: enterprise']);
  });
});

describe('entitlements', () => {
  it('change with the subscription, with one event per change', async () => {
    const { context } = site.gateway;
    const caller = { orgId, actor: owner, requestId: null };
    await createSubscription(context, { planId: BillingPlanId.parse('team'), planVersion: 1, start: 'active' }, caller);
    expect(await read()).toMatchObject({ plan_id: 'team', source: 'plan', limits: { members: { limit: 50 } } });
    await moveSubscription(context, 'fail_payment', caller);
    expect(await changes()).toEqual(['subscription: team', 'subscription: team']);
  });

  it('count monthly tool calls and workspaces; if the usage of a limit is unknown, the requested amount alone is compared with the limit', async () => {
    const workspaceId = WorkspaceId.parse(`wsp_${ulidOf(orgs)}`);
    const call = (id: string, occurredAt: string, quantity: bigint) => ({
      ...{ source: '/test', id, meter: 'tool_calls' as const, workspaceId, occurredAt: new Date(occurredAt) },
      quantityMicros: quantity * 1_000_000n,
    });
    await site.gateway.context.transaction(async (tx) => {
      await putOrgWorkspace(tx, { workspace_id: workspaceId, org_id: orgId, added_at: created_at });
      const events = [
        call('a', '2026-10-31T23:59:59.999Z', 7n),
        call('b', '2026-11-01T00:00:00.000Z', 990n),
        call('c', '2026-11-28T11:00:00.000Z', 9n),
      ];
      await recordUsage(tx, { orgId, events, receivedAt: now });
    });
    expect((await read()).limits).toMatchObject({
      tool_calls: { limit: 1_000, used: 999, remaining: 1, resets_at: '2026-12-01T00:00:00.000Z' },
      workspaces: { limit: 1, used: 1, remaining: 0 },
      members: { limit: 3, used: null, remaining: null },
    });
    expect((await read()).limits).toMatchObject({ connectors: { used: null }, shadow_lanes: { used: null } });
    site.directory.use = { connectors: 1, shadow_lanes: 0 };
    expect((await read()).limits).toMatchObject({ connectors: { used: 1 }, shadow_lanes: { used: 0 } });
    const check = async (name: 'tool_calls' | 'workspaces' | 'members' | 'stops', amount?: number) => {
      const body = amount === undefined ? { name } : { name, amount };
      return (await person.checkEntitlements({ query: { org_id: orgId }, body })).body;
    };
    expect(await check('tool_calls')).toMatchObject({ allowed: true, reason_code: 'WITHIN_LIMIT' });
    expect(await check('tool_calls', 2)).toEqual({
      ...{ allowed: false, reason_code: 'LIMIT_REACHED', limit: 1_000, used: 999, upgrade: { plan_id: 'team' } },
    });
    expect(await check('workspaces')).toMatchObject({ allowed: false, reason_code: 'LIMIT_REACHED' });
    expect(await check('members', 3)).toMatchObject({ allowed: true, reason_code: 'NOT_COUNTED', used: null });
    expect(await check('members', 4)).toMatchObject({ allowed: false, upgrade: { plan_id: 'team' } });
    expect(await check('stops')).toMatchObject({ allowed: true, reason_code: 'NEVER_LIMITED' });
  });

  it('of an organisation that the caller does not administer return the same NOT_FOUND as those of an unknown organisation', async () => {
    const second = await site.as(UserId.parse(`usr_${ulidOf(3)}`));
    const query = { org_id: orgId };
    const refusals = [
      () => second.getEntitlements({ query }),
      () => second.checkEntitlements({ query, body: { name: 'members' } }),
      () => second.beginTrial({ body: query }),
      () => person.getEntitlements({ query: { org_id: OrgId.parse(`org_${ulidOf(998)}`) } }),
    ];
    for (const refused of refusals) await expect(refused()).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});
