import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { scimSchemas } from '@countersign/contracts/commercial-gateway';
import { until } from '@countersign/testkit/until';
import { writeSuspension } from '../src/store/org-settings.ts';
import { publicUrl, startCommercialSite, type CommercialSite } from './_commercial.ts';
import { patchOf } from './_scim.ts';
import { entra, okta, type Step } from './_scim-sequences.ts';
import { newDirectory, revokeToken, scimOf, type Directory } from './_scim-site.ts';

let site: CommercialSite;
let here: Directory;

beforeAll(async () => {
  site = await startCommercialSite();
});

afterAll(() => site?.stop());

beforeEach(async () => {
  site.directory.isSoleOwner = false;
  here = await newDirectory(site);
});

const person = (name: string, more: object = {}) => ({
  schemas: [scimSchemas.user],
  userName: `${name}@${here.domain}`,
  externalId: `ext-${name}`,
  ...more,
});

async function created(name: string, more: object = {}, at = here): Promise<string> {
  const { status, body } = await at.scim('POST /Users', {
    body: { ...person(name), userName: `${name}@${at.domain}`, ...more },
  });
  expect({ status, detail: body['detail'] }).toEqual({ status: 201, detail: undefined });
  return String(body.id);
}

async function newGroup(displayName: string, ids: readonly string[] = []): Promise<string> {
  const members = ids.map((value) => ({ value }));
  const { body } = await here.scim('POST /Groups', { body: { schemas: [scimSchemas.group], displayName, members } });
  return String(body.id);
}

const deactivation = patchOf({ op: 'replace', value: { active: false } });
const countActive = (orgId: string) =>
  site.gateway.context.database.reader.scimUser.count({ where: { orgId, active: true } });

it('people are published even when those of another organisation cannot be published', async () => {
  const { transaction, database } = site.gateway.context;
  const unknown = { id: 'scu_00000000000000000000000000', orgId: 'org_00000000000000000000000000' };
  const attributes = JSON.stringify({ schemas: [scimSchemas.user], userName: 'eve', active: true });
  const names = { userNameKey: 'eve', emailKeys: [], address: null, attributes, active: true, version: 1 };
  const times = { createdAt: new Date(), changedAt: new Date() };
  await transaction((tx) => tx.scimUser.create({ data: { ...unknown, ...names, ...times } }));
  const id = await created('ada');
  await until(async () => !(await database.reader.scimUser.findUniqueOrThrow({ where: { id } })).effectDue);
  const stuck = await database.reader.scimUser.findUniqueOrThrow({ where: { id: unknown.id } });
  expect(stuck.effectDue).toBe(true);
});

describe.each([
  ['Entra', entra],
  ['Okta', okta],
])('%s', (_name, steps) => {
  it('provisions people and groups with its own forms of requests', async () => {
    const saved = new Map<string, string>();
    const filled = (template: Step): Step => {
      const text = JSON.stringify(template).replaceAll('corp.example', here.domain);
      const words = text.replaceAll(/\{(\w+)\}/g, (_all, name: string) => saved.get(name) ?? name);
      return JSON.parse(words) as Step; // the same shape with replaced words
    };
    for (const step of steps) {
      const { send, body, status, answer = {}, saves } = filled(step);
      const got = await here.scim(send, body === undefined ? {} : { body });
      expect({ send, status: got.status, body: got.body }).toMatchObject({ send, status, body: answer });
      if (saves !== undefined) saved.set(saves, String(got.body.id));
    }
  });
});

describe('resources', () => {
  it('have an ETag, a location and times that repeated requests do not change', async () => {
    const made = await here.scim('POST /Users', { body: person('ada') });
    const location = `${publicUrl}/scim/v2/Users/${made.body.id}`;
    expect(made.headers.get('content-type')).toBe('application/scim+json; charset=utf-8');
    expect([made.headers.get('etag'), made.headers.get('location')]).toEqual(['W/"1"', location]);
    expect(made.body).toMatchObject({ meta: { location, version: 'W/"1"', resourceType: 'User' } });
    const at = `/Users/${made.body.id}`;
    expect((await here.scim(`PUT ${at}`, { body: person('ada') })).body).toEqual(made.body);
    const same = patchOf({ op: 'Replace', path: 'active', value: 'True' });
    expect((await here.scim(`PATCH ${at}`, { body: same })).body).toEqual(made.body);
    expect((await here.scim(`GET ${at}`, { headers: { 'if-none-match': 'W/"1"' } })).status).toBe(304);
    const title = patchOf({ op: 'add', path: 'title', value: 'Countess' });
    const changed = await here.scim(`PATCH ${at}`, { body: title, headers: { 'if-match': 'W/"1"' } });
    expect([changed.status, changed.headers.get('etag')]).toEqual([200, 'W/"2"']);
    const late = await here.scim(`PATCH ${at}`, { body: title, headers: { 'if-match': 'W/"1"' } });
    expect(late).toMatchObject({ status: 412, body: { schemas: [scimSchemas.error], status: '412' } });
    expect((await here.scim(`DELETE ${at}`, { headers: { 'if-match': 'W/"1"' } })).status).toBe(412);
  });

  it('are listed in pages of at most 200, and filtered', async () => {
    for (const name of ['a', 'b', 'c']) await created(name, { displayName: `Person_${name}`, title: name });
    const page = await here.scim('GET /Users?startIndex=2&count=1&attributes=userName');
    expect(page.body).toMatchObject({ totalResults: 3, startIndex: 2, itemsPerPage: 1 });
    const schemas = [scimSchemas.user];
    expect(page.body['Resources']).toEqual([{ schemas, id: expect.any(String), userName: `b@${here.domain}` }]);
    const total = async (filter: string) =>
      (await here.scim(`GET /Users?count=0&filter=${encodeURIComponent(filter)}`)).body['totalResults'];
    expect(await total('displayName sw "person_" and not (userName sw "A@")')).toBe(2);
    // Wildcards of LIKE are ordinary characters.
    expect(await total('displayName co "person%"')).toBe(0);
    expect(await total('displayName ew "n_c" or active eq false')).toBe(1);
    expect(await total(`emails.value pr or emails co "\\u0000"`)).toBe(0);
    expect(await total('externalId eq "EXT-a"')).toBe(0);
    expect((await here.scim('GET /Users?count=9999')).body['itemsPerPage']).toBe(3);
    const refused = await here.scim(`GET /Users?filter=${encodeURIComponent('title eq "a"')}`);
    expect(refused).toMatchObject({ status: 400, body: { scimType: 'invalidFilter' } });
  });

  it('are described by discovery', async () => {
    expect((await here.scim('GET /ServiceProviderConfig')).body).toMatchObject({ bulk: { supported: false } });
    expect((await here.scim('GET /ResourceTypes')).body).toMatchObject({ totalResults: 2 });
    expect((await here.scim('GET /Schemas')).body).toMatchObject({ totalResults: 3 });
  });

  it('accept application/json, and refuse other media in the form of SCIM', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await here.scim('POST /Users', { body: person('json'), headers })).status).toBe(201);
    const text = await here.scim('POST /Users', { body: '<a/>', headers: { 'content-type': 'text/xml' } });
    expect(text).toMatchObject({ status: 415, body: { schemas: [scimSchemas.error], status: '415' } });
    expect(await here.scim('POST /Users', { body: '{' })).toMatchObject({
      status: 400,
      body: { scimType: 'invalidSyntax' },
    });
  });
});

describe('a token', () => {
  it('gives access only to its own organisation', async () => {
    const second = await newDirectory(site);
    const user = await created('ada');
    const group = await newGroup('Team', [user]);
    for (const path of [`/Users/${user}`, `/Groups/${group}`])
      for (const [method, body] of [
        ['GET'],
        ['PUT', person('x', { displayName: 'x' })],
        ['PATCH', deactivation],
        ['DELETE'],
      ] as const)
        expect((await second.scim(`${method} ${path}`, body === undefined ? {} : { body })).status).toBe(404);
    expect((await second.scim('GET /Users')).body).toMatchObject({ totalResults: 0 });
    const members = [{ value: user }];
    const foreign = await second.scim('POST /Groups', { body: { displayName: 'Theirs', members } });
    expect(foreign).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect((await here.scim(`GET /Users/${user}`)).body).toMatchObject({ active: true });
  });

  it('is refused after its revocation, and other credentials are always refused', async () => {
    await revokeToken(site, here);
    const refused = await here.scim('GET /Users');
    expect(refused).toMatchObject({ status: 401, body: { schemas: [scimSchemas.error], status: '401' } });
    for (const bearer of ['cst_unknown', `hp_${'a'.repeat(43)}`])
      expect((await scimOf(site, bearer)('GET /Users')).status).toBe(401);
  });

  it('of a suspended organisation can end access and cannot grant it', async () => {
    const user = await created('ada');
    const { context } = site.gateway;
    const suspension = {
      reason: 'unpaid',
      suspended_by: 'usr_01ARZ3NDEKTSV4RRFFQ69G5ADM',
      suspended_at: new Date().toISOString(),
    };
    await context.transaction((tx) => writeSuspension(tx, here.orgId, suspension as never)); // valid IDs and times
    expect((await here.scim('POST /Users', { body: person('eve') })).status).toBe(403);
    expect(
      (await here.scim('POST /Groups', { body: { displayName: 'Team', members: [{ value: user }] } })).status,
    ).toBe(403);
    expect((await here.scim(`PATCH /Users/${user}`, { body: deactivation })).body).toMatchObject({ active: false });
    const back = patchOf({ op: 'replace', path: 'active', value: true });
    expect((await here.scim(`PATCH /Users/${user}`, { body: back })).status).toBe(403);
    expect((await here.scim(`DELETE /Users/${user}`)).status).toBe(204);
  });
});

describe('a person', () => {
  it('is provisioned only under a domain that the organisation has verified', async () => {
    const second = await newDirectory(site);
    const foreign = await here.scim('POST /Users', { body: person('eve', { userName: `eve@${second.domain}` }) });
    expect(foreign).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    const emails = [{ value: `ceo@${second.domain}`, primary: true }];
    expect((await here.scim('POST /Users', { body: person('eve', { emails }) })).status).toBe(400);
    const user = await created('eve');
    const moved = patchOf({ op: 'add', path: 'emails', value: emails });
    expect((await here.scim(`PATCH /Users/${user}`, { body: moved })).status).toBe(400);
    const gone = patchOf({ op: 'replace', path: 'userName', value: 'eve' });
    expect((await here.scim(`PATCH /Users/${user}`, { body: gone })).status).toBe(400);
  });

  it('has an address that is unique over all organisations', async () => {
    const { domain } = here;
    const second = await newDirectory(site);
    await created('ada');
    await site.gateway.context.transaction(async (tx) => {
      await tx.claimedDomain.deleteMany({ where: { orgId: here.orgId } });
      await tx.claimedDomain.updateMany({ where: { orgId: second.orgId }, data: { domain } });
    });
    const taken = await second.scim('POST /Users', { body: person('ada', { userName: `ada@${domain}` }) });
    expect(taken).toMatchObject({ status: 409, body: { scimType: 'uniqueness' } });
    // The organisation that lost the domain can still end access.
    const [user] = (await here.scim('GET /Users')).body['Resources'] as { id: string }[];
    expect((await here.scim(`PATCH /Users/${user?.id}`, { body: deactivation })).status).toBe(200);
  });

  it('who is the only owner of a workspace stays active, but loses their sessions and keys', async () => {
    site.directory.isSoleOwner = true;
    const user = await created('ada');
    const epoch = async () =>
      (await site.gateway.context.database.reader.scimUser.findUniqueOrThrow({ where: { id: user } })).accessEpoch;
    for (const request of [`PATCH /Users/${user}`, `DELETE /Users/${user}`]) {
      const body = request.startsWith('PATCH') ? { body: deactivation } : {};
      expect(await here.scim(request, body)).toMatchObject({ status: 409, body: { status: '409' } });
    }
    expect([await epoch(), (await here.scim(`GET /Users/${user}`)).body['active']]).toEqual([2, true]);
    site.directory.isSoleOwner = null;
    expect((await here.scim(`PATCH /Users/${user}`, { body: deactivation })).body).toMatchObject({ active: false });
    expect(await epoch()).toBe(3);
  });

  it('who was deleted keeps the row, and the name can be used again', async () => {
    const user = await created('ada');
    const group = await newGroup('Team', [user]);
    expect((await here.scim(`DELETE /Users/${user}`)).status).toBe(204);
    expect((await here.scim(`GET /Groups/${group}`)).body['members']).toBeUndefined();
    const again = await created('ada');
    expect(again).not.toBe(user);
    const rows = await site.gateway.context.database.reader.scimUser.findMany({
      where: { orgId: here.orgId },
      orderBy: { id: 'asc' },
    });
    expect(rows.map(({ id, active }) => [id, active])).toEqual([
      [user, false],
      [again, true],
    ]);
  });
});

describe('of concurrent requests', () => {
  it('one of twenty for the same name succeeds', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => here.scim('POST /Users', { body: person('ada') })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(answers.filter(({ status, body }) => status === 409 && body['scimType'] === 'uniqueness')).toHaveLength(19);
    expect(await countActive(here.orgId)).toBe(1);
  });

  it('one of two replacements of the same version succeeds', async () => {
    const user = await created('ada');
    const put = (title: string) =>
      here.scim(`PUT /Users/${user}`, { body: person('ada', { title }), headers: { 'if-match': 'W/"1"' } });
    const answers = await Promise.all(['a', 'b', 'c', 'd'].map(put));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412]);
  });
});

describe('two concurrent identity providers', () => {
  it('lose no member of one group, and only one write to the same version succeeds', async () => {
    const ids = [];
    for (let nth = 0; nth < 10; nth += 1) ids.push(await created(`m${nth}`));
    const group = await newGroup('Team');
    const second = scimOf(site, here.secret);
    const add = (value: string, nth: number) => {
      const scim = nth % 2 === 0 ? here.scim : second;
      return scim(`PATCH /Groups/${group}`, { body: patchOf({ op: 'add', path: 'members', value: [{ value }] }) });
    };
    const answers = await Promise.all(ids.map(add));
    expect(answers.map(({ status }) => status)).toEqual(ids.map(() => 200));
    const { body, headers } = await here.scim(`GET /Groups/${group}`);
    expect((body['members'] as { value: string }[]).map(({ value }) => value).toSorted()).toEqual(ids.toSorted());
    const sent = { 'if-match': headers.get('etag') ?? '' };
    const remove = (value: string) => patchOf({ op: 'remove', path: `members[value eq "${value}"]` });
    const removals = await Promise.all(
      ids.map((value) => second(`PATCH /Groups/${group}`, { body: remove(value), headers: sent })),
    );
    expect(removals.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(removals.filter(({ status }) => status === 412)).toHaveLength(9);
    expect((await here.scim(`GET /Groups/${group}`)).body['members']).toHaveLength(9);
  });

  it('leave one consistent state when one deletes a person and the other restores the person', async () => {
    const user = await created('ada');
    await here.scim(`PATCH /Users/${user}`, { body: deactivation });
    const back = patchOf({ op: 'replace', path: 'active', value: true });
    const [deleted, restored] = await Promise.all([
      here.scim(`DELETE /Users/${user}`),
      here.scim(`PATCH /Users/${user}`, { body: back }),
    ]);
    expect(deleted.status).toBe(204);
    expect([200, 404]).toContain(restored.status);
    expect((await here.scim(`PATCH /Users/${user}`, { body: back })).status).toBe(404);
    expect(await countActive(here.orgId)).toBe(0);
  });
});

describe('bounds', () => {
  it('apply to filters, operations and members', async () => {
    const deep = `${'('.repeat(40)}userName eq "a"${')'.repeat(40)}`;
    expect((await here.scim(`GET /Users?filter=${encodeURIComponent(deep)}`)).body['scimType']).toBe('invalidFilter');
    const user = await created('ada');
    const many = patchOf(...Array.from({ length: 501 }, () => ({ op: 'add', path: 'title', value: 'a' })));
    expect((await here.scim(`PATCH /Users/${user}`, { body: many })).status).toBe(400);
    const members = Array.from({ length: 5_001 }, (_, at) => ({ value: `scu_${at}` }));
    expect((await here.scim('POST /Groups', { body: { displayName: 'All', members } })).status).toBe(413);
    expect((await here.scim('POST /Users', { body: person('b', { title: 'x'.repeat(1_100_000) }) })).status).toBe(413);
  });

  it('allow a group of ten thousand members, who are added and removed in thousands', async () => {
    const { context } = site.gateway;
    const ids = Array.from({ length: 10_001 }, (_, at) => `scu_01ARZ3NDEKTSV4RRFFQ${String(at).padStart(7, '0')}`);
    await context.transaction(
      (tx) => tx.$executeRaw`
        INSERT INTO scim_users (id, org_id, user_name_key, email_keys, active, attributes, version, created_at, changed_at)
        SELECT id, ${here.orgId}, id, '{}', true, '{"active":true,"userName":"' || id || '"}', 1, now(), now()
          FROM unnest(${ids}::text[]) AS id`,
    );
    const group = await newGroup('All');
    const add = (some: readonly string[]) =>
      here.scim(`PATCH /Groups/${group}`, {
        body: patchOf({ op: 'Add', path: 'members', value: some.map((value) => ({ value })) }),
      });
    expect((await add(ids.slice(0, 5_000))).status).toBe(200);
    expect((await add(ids.slice(5_000, 10_000))).status).toBe(200);
    expect(await add(ids.slice(10_000))).toMatchObject({ status: 400, body: { scimType: 'invalidValue' } });
    expect((await here.scim(`GET /Groups/${group}`)).body['members']).toHaveLength(10_000);
    await newGroup('Small', ids.slice(0, 1));
    // A page of groups never has more members than one group may have.
    expect((await here.scim('GET /Groups')).body).toMatchObject({ totalResults: 2, itemsPerPage: 1 });
    expect((await here.scim('GET /Groups?excludedAttributes=members')).body).toMatchObject({ itemsPerPage: 2 });
    const one = patchOf({ op: 'remove', path: `members[value eq "${ids[7]}"]` });
    expect((await here.scim(`PATCH /Groups/${group}`, { body: one })).status).toBe(200);
    expect((await here.scim(`GET /Users/${ids[7]}`)).body['groups']).toBeUndefined();
  });
});
