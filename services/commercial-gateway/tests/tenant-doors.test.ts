import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Instant, isAppError, UserId, WorkspaceId, type AnyRoute } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { commercialRoutes } from '@countersign/contracts/routes';
import { until } from '@countersign/testkit/until';
import { z } from 'zod';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';

const userOf = (mark: string) => UserId.parse(`usr_${mark.repeat(26)}`);
const orgOf = (mark: string) => OrgId.parse(`org_${mark.repeat(26)}`);
const [owner, stranger, operator] = [userOf('1'), userOf('2'), userOf('3')];
const [own, unknown] = [orgOf('1'), orgOf('9')];

/** A valid body of each route that takes one. A new route needs an entry here. */
const bodies: Record<string, object> = {
  'activate-licence': { licence: 'a.b.c' },
  'begin-trial': { org_id: own },
  'create-compliance-report': {
    ...{ framework: 'soc2', from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
  },
  'check-entitlement': { name: 'members' },
  'put-identity-settings': { sso_required: false, oidc_connection_id: null, role_mappings: [], domains: [] },
  'create-scim-token': { name: 'Directory', expires_in_days: 1 },
  'start-checkout': { purpose: 'subscription', plan: { plan_id: 'team', plan_version: 1 } },
  'refund-invoice': { amount_minor: 1, currency: 'EUR', reference: 'r' },
  'put-subscription': { plan: { plan_id: 'team', plan_version: 1 } },
  'put-org-settings': { suspension: null, override: null },
  'grant-org-credit': {
    ...{ kind: 'promotional', currency: 'EUR', amount_minor: 1, expires_at: null, reason: 'Test', reference: 'r' },
  },
  'put-billing-budget': { amount_minor: 1, currency: 'EUR' },
  'record-spend': {
    ...{ event_id: 'e', budget_id: 'travel', amount_minor: 1, currency: 'EUR' },
    occurred_at: '2026-11-01T00:00:00.000Z',
  },
};

let site: CommercialSite;

beforeAll(async () => {
  const org = (mark: string, admin_id: UserId) => ({
    ...{ org_id: orgOf(mark), name: `Org ${mark}`, admin_id },
    created_at: Instant.parse('2026-11-01T00:00:00.000Z'),
  });
  site = await startCommercialSite({
    env: { GOV_INSTALLATION_ADMINS: operator },
    before: ({ orgs }) => void orgs.push(org('1', owner), org('2', stranger)),
  });
  await until(async () => (await findOrg(site.gateway.context.database.reader, orgOf('2'))) !== null);
});
afterAll(() => site?.stop());

const entries: [string, AnyRoute][] = Object.entries(commercialRoutes);
const tenantRoutes = entries.filter(([, route]) => route.auth === 'session' && namesOrg(route));
const adminRoutes = entries.filter(([, { auth }]) => auth === 'commercial_admin');
const basicRoutes = entries.filter(([, { path }]) => /^\/api\/basic\/(runtime|budget\/record)/.test(path));
const ofPeople = entries.filter(([, { auth }]) => auth === 'session' || auth === 'commercial_admin');
const personRoutes = [...ofPeople, ...basicRoutes];

/** Whether the path, the query or the body names an organisation. */
function namesOrg({ path, query, body }: AnyRoute): boolean {
  return path.includes('{tenant_id}') || hasOrgId(query) || hasOrgId(body);
}

function hasOrgId(shape: unknown): boolean {
  return shape instanceof z.ZodObject && 'org_id' in shape.shape;
}

/** The answer of a route for an organisation, without the id of the request. */
async function answerOf(client: CommercialClient, [name, route]: [string, AnyRoute], orgId: string): Promise<unknown> {
  const call = client[name as keyof CommercialClient] as (input: unknown) => Promise<{ status: number }>; // the name is a key of the client
  const body = bodies[route.operation];
  if (route.body !== undefined && body === undefined) throw new Error(`${route.operation} has no body in this test`);
  const input = {
    params: {
      tenant_id: orgId,
      org_id: orgId,
      invoice_id: 'ivc_unknown',
      token_id: 'sct_unknown',
      report_id: 'cpr_unknown',
    },
    ...(hasOrgId(route.query) ? { query: { org_id: orgId } } : {}),
    ...(body === undefined ? {} : { body: hasOrgId(route.body) ? { ...body, org_id: orgId } : body }),
    ...(route.operation === 'put-identity-settings' ? { headers: { 'if-match': '"0"' } } : {}),
  };
  try {
    return { status: (await call(input)).status };
  } catch (error) {
    if (!isAppError(error)) throw error;
    const { request_id: _, ...details } = error.details ?? {};
    return { code: error.code, message: error.message, param: error.param ?? null, ...details };
  }
}

describe.each(tenantRoutes)('%s', (...entry) => {
  it('answers the same for the organisation of another person as for an unknown one', async () => {
    const client = await site.as(stranger);
    const answer = await answerOf(client, entry, own);
    expect(answer).toMatchObject({ status: 404, code: 'NOT_FOUND', message: 'There is no such object' });
    expect(answer).toEqual(await answerOf(client, entry, unknown));
    expect(answer).toEqual(await answerOf(client, entry, 'no-id'));
    expect(answer).toEqual(await answerOf(await site.as(operator), entry, own));
  });
});

describe.each(personRoutes)('%s', (...entry) => {
  it('refuses anonymous callers and assertions for the control plane', async () => {
    expect(await answerOf(site.anonymous, entry, own)).toMatchObject({ status: 401 });
    expect(await answerOf(await site.asAtControlPlane(owner), entry, own)).toMatchObject({ status: 401 });
    expect(await answerOf(site.sibling, entry, own)).toMatchObject({ status: 401 });
  });
});

describe.each(basicRoutes)('%s', (...entry) => {
  const [, { leastRole = 'owner' }] = entry;
  const workspaceId = WorkspaceId.parse(`wsp_${'7'.repeat(26)}`);

  it('needs a workspace of an organisation, and the role in it', async () => {
    expect(await answerOf(await site.asBasic({ sub: owner }), entry, own)).toMatchObject({ code: 'PERMISSION_DENIED' });
    const orphaned = await site.asBasic({ sub: owner, workspace_id: workspaceId, role: leastRole });
    expect(await answerOf(orphaned, entry, own)).toMatchObject({ code: 'NOT_FOUND' });
    if (leastRole === 'member') return;
    const below = leastRole === 'owner' ? 'partner' : 'member';
    const lower = await site.asBasic({ sub: owner, workspace_id: workspaceId, role: below });
    expect(await answerOf(lower, entry, own)).toMatchObject({ code: 'PERMISSION_DENIED' });
  });
});

const freshRoutes = personRoutes.filter(
  ([, route]) => route.needsPresence === true || route.auth === 'commercial_admin',
);

it.each(freshRoutes)('%s refuses a sign-in that is 10 minutes old', async (...entry) => {
  const person = entry[1].auth === 'commercial_admin' ? operator : owner;
  expect(await answerOf(await site.as(person, 600), entry, own)).toMatchObject({ code: 'REAUTHENTICATION_REQUIRED' });
});

it('needs a fresh sign-in for what costs money', () => {
  const fresh = freshRoutes.map(([name]) => name);
  expect(fresh).toEqual(expect.arrayContaining(['putSubscription', 'putBudget', 'beginTrial']));
  expect(adminRoutes.every(([name]) => fresh.includes(name))).toBe(true);
});

it('refuses people at the door of sibling services', async () => {
  const body = { tenant_id: own, events: [{}] };
  const client = await site.as(owner);
  await expect(client.recordUsageEvents({ body })).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  await expect(site.anonymous.recordUsageEvents({ body })).rejects.toMatchObject({ details: { status: 401 } });
  const foreign = { ...body, tenant_id: unknown };
  await expect(site.sibling.recordUsageEvents({ body: foreign })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
