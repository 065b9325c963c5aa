import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Instant, isAppError, UserId, WorkspaceId, type AnyRoute } from '@countersign/contracts';
import { OrgId } from '@countersign/contracts/governance-kernel';
import { commercialRoutes } from '@countersign/contracts/routes';
import { minimalBody } from '@countersign/contracts/testing';
import { until } from '@countersign/testkit/until';
import { z } from 'zod';
import { findOrg } from '../src/store/orgs.ts';
import { startCommercialSite, type CommercialClient, type CommercialSite } from './_commercial.ts';

const userOf = (mark: string) => UserId.parse(`usr_${mark.repeat(26)}`);
const orgOf = (mark: string) => OrgId.parse(`org_${mark.repeat(26)}`);
const [owner, stranger, operator] = [userOf('1'), userOf('2'), userOf('3')];
const [own, unknown] = [orgOf('1'), orgOf('9')];

/** Members whose meaning the service checks besides their form. */
const chosen: Record<string, object> = {
  // The end of a period is after its start.
  'create-compliance-report': { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
  // Only this plan of the price list is sold.
  'start-checkout': { purpose: 'subscription', plan: { plan_id: 'team', plan_version: 1 } },
  'put-subscription': { plan: { plan_id: 'team', plan_version: 1 } },
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

/** Returns whether the path, the query or the body names an organisation. */
function namesOrg({ path, query, body }: AnyRoute): boolean {
  return path.includes('{tenant_id}') || hasOrgId(query) || hasOrgId(body);
}

function hasOrgId(shape: unknown): boolean {
  return shape instanceof z.ZodObject && 'org_id' in shape.shape;
}

/** Returns the answer of a route for an organisation, without the request ID. */
async function answerOf(client: CommercialClient, [name, route]: [string, AnyRoute], orgId: string): Promise<unknown> {
  const call = client[name as keyof CommercialClient] as (input: unknown) => Promise<{ status: number }>; // the name is a key of the client
  const named = hasOrgId(route.body) ? { org_id: orgId } : {};
  const body = route.body === undefined ? undefined : minimalBody(route, { ...named, ...chosen[route.operation] });
  const input = {
    params: {
      tenant_id: orgId,
      org_id: orgId,
      invoice_id: 'ivc_unknown',
      token_id: 'sct_unknown',
      report_id: 'cpr_unknown',
    },
    ...(hasOrgId(route.query) ? { query: { org_id: orgId } } : {}),
    ...(body === undefined ? {} : { body }),
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
  it('returns the same for the organisation of another person as for an unknown one', async () => {
    const client = await site.as(stranger);
    const answer = await answerOf(client, entry, own);
    expect(answer).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
      message: 'This object does not exist, or you have no access to it. Check its ID and the workspace',
    });
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

  it('needs a workspace of an organisation and the required role in it', async () => {
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

it('routes that cost money need a fresh sign-in', () => {
  const fresh = freshRoutes.map(([name]) => name);
  expect(fresh).toEqual(expect.arrayContaining(['putSubscription', 'putBudget', 'beginTrial']));
  expect(adminRoutes.every(([name]) => fresh.includes(name))).toBe(true);
});

it('routes for sibling services refuse people', async () => {
  const body = { tenant_id: own, events: [{}] };
  const client = await site.as(owner);
  await expect(client.recordUsageEvents({ body })).rejects.toMatchObject({ code: 'CREDENTIALS_INVALID' });
  await expect(site.anonymous.recordUsageEvents({ body })).rejects.toMatchObject({ details: { status: 401 } });
  const foreign = { ...body, tenant_id: unknown };
  await expect(site.sibling.recordUsageEvents({ body: foreign })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
