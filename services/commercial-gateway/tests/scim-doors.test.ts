import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UserId, type AnyRoute } from '@countersign/contracts';
import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { commercialRoutes } from '@countersign/contracts/routes';
import { startCommercialSite, type CommercialSite } from './_commercial.ts';
import { patchOf } from './_scim.ts';
import { newDirectory, revokeToken, scimOf, type Directory, type ScimAnswer } from './_scim-site.ts';

const serviceKey = 'service-key-of-a-commercial-gateway-under-test';
const entries: [string, AnyRoute][] = Object.entries(commercialRoutes);
const routes = entries
  .filter(([, { auth }]) => auth === 'scim')
  .map(([name, { method, path }]) => ({ name, method, path }));
const withId = routes.filter(({ path }) => path.endsWith('/{id}'));
const unknownIds: Record<string, string> = { Users: `scu_${'0'.repeat(26)}`, Groups: `scg_${'0'.repeat(26)}` };
const admin = UserId.parse(`usr_${'1'.repeat(26)}`);

let site: CommercialSite;
let own: Directory;
let other: Directory;
let ids: Record<string, string>;

beforeAll(async () => {
  site = await startCommercialSite();
});
afterAll(() => site?.stop());

beforeEach(async () => {
  [own, other] = [await newDirectory(site), await newDirectory(site)];
  const user = await own.scim('POST /Users', { body: bodyOf('POST', 'Users') });
  const group = await own.scim('POST /Groups', { body: bodyOf('POST', 'Groups') });
  expect([user.status, group.status]).toEqual([201, 201]);
  ids = { Users: String(user.body.id), Groups: String(group.body.id) };
});

type Route = (typeof routes)[number];

const kindOf = ({ path }: Pick<Route, 'path'>) => path.split('/')[3] ?? '';

/** A valid body of a route that takes one. */
function bodyOf(method: string, kind: string): object | undefined {
  if (method === 'GET' || method === 'DELETE') return undefined;
  if (method === 'PATCH') return patchOf({ op: 'replace', path: 'displayName', value: 'Changed' });
  if (kind === 'Groups') return { schemas: [scimSchemas.group], displayName: 'Team' };
  return { schemas: [scimSchemas.user], userName: `ada@${own.domain}`, displayName: 'Ada' };
}

function send(
  route: Route,
  { scim, id = '' }: { scim: Directory['scim']; id?: string | undefined },
): Promise<ScimAnswer> {
  const { method, path } = route;
  const body = bodyOf(method, kindOf(route));
  return scim(`${method} ${path.replace('/scim/v2', '').replace('{id}', id)}`, body === undefined ? {} : { body });
}

/** The data that a caller without the token of the organisation would want to see or change. */
async function contents(): Promise<unknown> {
  const [users, groups] = [await own.scim('GET /Users'), await own.scim('GET /Groups')];
  return [users.body, groups.body];
}

it('are the fifteen routes of SCIM', () => {
  expect(routes).toHaveLength(15);
  expect(withId).toHaveLength(8);
});

describe.each(routes)('$method $path', (route) => {
  it('opens to a live SCIM token alone', async () => {
    const before = await contents();
    const person = await site.tokenOf(admin);
    const revoked = await newDirectory(site);
    await revokeToken(site, revoked);
    const bearers = [person, serviceKey, `hp_${'a'.repeat(43)}`, `agk_${'a'.repeat(43)}`, `cst_${'a'.repeat(43)}`, 'x'];
    const doors = [revoked.scim, ...bearers.map((bearer) => scimOf(site, bearer))];
    const missing: Directory['scim'] = (request, sent) =>
      scimOf(site, '')(request, { ...sent, headers: { authorization: '' } });
    for (const scim of [...doors, missing])
      expect(await send(route, { scim, id: ids[kindOf(route)] })).toMatchObject({
        status: 401,
        body: { schemas: [scimSchemas.error], status: '401' },
      });
    expect(await contents()).toEqual(before);
  });
});

describe.each(withId)('$method $path', (route) => {
  it('answers the same for an object of another organisation as for an unknown one, and changes nothing', async () => {
    const before = await contents();
    const kind = kindOf(route);
    const foreign = await send(route, { scim: other.scim, id: ids[kind] });
    expect(foreign.status).toBe(404);
    for (const id of [unknownIds[kind], 'no-id', '%00', `${ids[kind]}%20`]) {
      const unknown = await send(route, { scim: other.scim, id });
      expect([unknown.status, unknown.body]).toEqual([foreign.status, foreign.body]);
    }
    expect(await contents()).toEqual(before);
  });
});

it('a SCIM token opens no other route', async () => {
  const others = entries.filter(([, { auth }]) => auth !== 'scim' && auth !== 'public');
  for (const [name, { method, path }] of others) {
    const url = new URL(path.replaceAll(/\{\w+\}/g, own.orgId), site.gateway.url);
    const headers = { authorization: `Bearer ${own.secret}`, 'content-type': 'application/json' };
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
    const { status } = await fetch(url, { method, headers, ...body });
    expect([name, status]).toEqual([name, 401]);
  }
});

it('does not reveal which addresses another organisation has provisioned', async () => {
  const [taken, free] = [`ada@${own.domain}`, `nobody@${own.domain}`];
  const emailsOf = (value: string) => ({ emails: [{ value, primary: true }] });
  const refusalOf = async (request: string, userName: string, address: string) => {
    const body = { schemas: [scimSchemas.user], userName, ...emailsOf(address) };
    const { status, body: answer } = await other.scim(request, { body });
    return [status, answer['scimType'], String(answer['detail']).replaceAll(address, 'the address')];
  };
  const asked = await refusalOf('POST /Users', 'probe', taken);
  expect(asked).toEqual(await refusalOf('POST /Users', 'probe', free));
  expect(asked.slice(0, 2)).toEqual([400, 'invalidValue']);
  const { body } = await other.scim('POST /Users', {
    body: { schemas: [scimSchemas.user], userName: `own@${other.domain}` },
  });
  const moved = await refusalOf(`PUT /Users/${body.id}`, 'probe', taken);
  expect(moved).toEqual(await refusalOf(`PUT /Users/${body.id}`, 'probe', free));
});
