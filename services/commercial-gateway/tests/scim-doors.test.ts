import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { UserId, type AnyRoute } from '@countersign/contracts';
import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { commercialRoutes } from '@countersign/contracts/routes';
import { until } from '@countersign/testkit/until';
import pg from 'pg';
import { findScimUser } from '../src/store/scim-users.ts';
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
let otherDirectory: Directory;
let ids: Record<string, string>;

beforeAll(async () => {
  site = await startCommercialSite();
});
afterAll(() => site?.stop());

beforeEach(async () => {
  [own, otherDirectory] = [await newDirectory(site), await newDirectory(site)];
  const user = await own.scim('POST /Users', { body: bodyOf('POST', 'Users') });
  const group = await own.scim('POST /Groups', { body: bodyOf('POST', 'Groups') });
  expect([user.status, group.status]).toEqual([201, 201]);
  ids = { Users: String(user.body.id), Groups: String(group.body.id) };
});

type Route = (typeof routes)[number];

const kindOf = ({ path }: Pick<Route, 'path'>) => path.split('/')[3] ?? '';

/** Returns a valid body of a route. */
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

/** Returns the data that a caller without a token of the organisation must not see or change. */
async function contents(): Promise<unknown> {
  const [users, groups] = [await own.scim('GET /Users'), await own.scim('GET /Groups')];
  return [users.body, groups.body];
}

it('SCIM has fifteen routes', () => {
  expect(routes).toHaveLength(15);
  expect(withId).toHaveLength(8);
});

describe.each(routes)('$method $path', (route) => {
  it('accepts only a valid SCIM token', async () => {
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
  it('returns the same for an object of another organisation as for an unknown one, and changes nothing', async () => {
    const before = await contents();
    const kind = kindOf(route);
    const foreign = await send(route, { scim: otherDirectory.scim, id: ids[kind] });
    expect(foreign.status).toBe(404);
    for (const id of [unknownIds[kind], 'no-id', '%00', `${ids[kind]}%20`]) {
      const unknown = await send(route, { scim: otherDirectory.scim, id });
      expect([unknown.status, unknown.body]).toEqual([foreign.status, foreign.body]);
    }
    expect(await contents()).toEqual(before);
  });
});

it('a SCIM token is refused by all other routes', async () => {
  const others = entries.filter(([, { auth }]) => auth !== 'scim' && auth !== 'public');
  for (const [name, { method, path }] of others) {
    const url = new URL(path.replaceAll(/\{\w+\}/g, own.orgId), site.gateway.url);
    const headers = { authorization: `Bearer ${own.secret}`, 'content-type': 'application/json' };
    const body = method === 'GET' || method === 'DELETE' ? {} : { body: '{}' };
    const { status } = await fetch(url, { method, headers, ...body });
    expect([name, status]).toEqual([name, 401]);
  }
});

it('SCIM does not reveal which addresses another organisation has provisioned', async () => {
  const [taken, free] = [`ada@${own.domain}`, `nobody@${own.domain}`];
  const emailsOf = (value: string) => ({ emails: [{ value, primary: true }] });
  const refusalOf = async (request: string, userName: string, address: string) => {
    const body = { schemas: [scimSchemas.user], userName, ...emailsOf(address) };
    const { status, body: answer } = await otherDirectory.scim(request, { body });
    return [status, answer['scimType'], String(answer['detail']).replaceAll(address, 'the address')];
  };
  const requests = await refusalOf('POST /Users', 'probe', taken);
  expect(requests).toEqual(await refusalOf('POST /Users', 'probe', free));
  expect(requests.slice(0, 2)).toEqual([400, 'invalidValue']);
  const { body } = await otherDirectory.scim('POST /Users', {
    body: { schemas: [scimSchemas.user], userName: `own@${otherDirectory.domain}` },
  });
  const moved = await refusalOf(`PUT /Users/${body.id}`, 'probe', taken);
  expect(moved).toEqual(await refusalOf(`PUT /Users/${body.id}`, 'probe', free));
});

it('a request changes nothing when its token is revoked before it commits', async () => {
  const options = { connectionString: site.database.adminUrl, options: '-c search_path=commercial' };
  const administrator = new pg.Client(options);
  // A second client watches, because the transaction of the first one sees only one snapshot of pg_stat_activity.
  const watcher = new pg.Client(options);
  await Promise.all([administrator.connect(), watcher.connect()]);
  /** Waits until `count` statements wait for the lock. */
  const waiting = (count: number) =>
    until(async () => {
      const { rows } = await watcher.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%FROM identity_settings%'
            AND pid <> pg_backend_pid()`,
      );
      return rows[0]?.count === count;
    });
  try {
    await administrator.query('BEGIN');
    await administrator.query('SELECT FROM identity_settings WHERE org_id = $1 FOR UPDATE', [own.orgId]);
    const revoked = revokeToken(site, own);
    await waiting(1);
    const body = patchOf({ op: 'replace', path: 'displayName', value: 'Changed' });
    const late = own.scim(`PATCH /Users/${ids['Users']}`, { body });
    await waiting(2);
    await administrator.query('COMMIT');
    await revoked;
    expect(await late).toMatchObject({ status: 401 });
  } finally {
    await Promise.all([administrator.end(), watcher.end()]);
  }
  const user = await findScimUser(site.gateway.context.database.reader, { orgId: own.orgId, id: ids['Users'] ?? '' });
  expect(user?.attributes.displayName).toBe('Ada');
});
