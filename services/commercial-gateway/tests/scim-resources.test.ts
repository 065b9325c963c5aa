import { describe, expect, it } from '@jest/globals';
import { AppError, type ErrorEnvelope } from '@countersign/contracts';
import {
  ScimError,
  scimError,
  ScimGroup,
  ScimListQuery,
  scimSchemas,
  ScimUser,
} from '@countersign/contracts/commercial-gateway';
import { resourceTypes, schemas, serviceProviderConfig } from '../src/scim/discovery.ts';
import { groupDefinition } from '../src/scim/group-definition.ts';
import { listResponse } from '../src/scim/list-response.ts';
import { parseGroup, parseUser } from '../src/scim/parse-resource.ts';
import { roleOfGroups } from '../src/scim/role-of-groups.ts';
import { lastOwner } from '../src/scim/plan-user-change.ts';
import { requireVersion, weakTag } from '../src/scim/resource-version.ts';
import { groupView, userView } from '../src/scim/resource-view.ts';
import { scimRefusal } from '../src/scim/scim-refusal.ts';
import { userDefinition } from '../src/scim/user-definition.ts';
import { ada, refusalOf, team } from './_scim.ts';

const enterprise = scimSchemas.enterpriseUser;
const times = { version: 3, createdAt: '2026-11-27T00:00:00.000Z', changedAt: '2026-11-28T00:00:00.000Z' };
const stored = {
  ...{ id: 'u-1', groups: [{ value: 'g-1', display: 'Team' }], ...times },
  attributes: parseUser({ ...ada, [enterprise]: { department: 'R', manager: 'boss' } }),
};
const viewed = (projection = {}) => userView(stored, 'https://x.test/scim/v2', projection);

describe('discovery', () => {
  it('describes exactly the attributes that are parsed and stored', () => {
    const names = (attributes: readonly { name: string }[]) => attributes.map(({ name }) => name);
    const user = [...names(userDefinition.schema.attributes), 'externalId', enterprise];
    expect(new Set(user)).toEqual(new Set([...Object.keys(ScimUser.shape), 'groups']));
    expect(new Set([...names(groupDefinition.schema.attributes), 'externalId'])).toEqual(
      new Set(Object.keys(ScimGroup.shape)),
    );
    for (const { name, type, multiValued, subAttributes } of userDefinition.schema.attributes) {
      if (name === 'groups' || subAttributes === undefined) continue;
      const filled = Object.fromEntries(subAttributes.map((sub) => [sub.name, sub.type === 'boolean' ? true : 'x']));
      expect([name, type]).toEqual([name, 'complex']);
      expect(parseUser({ userName: 'x', [name]: filled })).toMatchObject({ [name]: multiValued ? [filled] : filled });
    }
  });

  it('has documents with absolute locations, and supports neither bulk nor sorting', () => {
    const base = 'https://x.test/scim/v2';
    expect(serviceProviderConfig(base)).toMatchObject({
      ...{
        patch: { supported: true },
        bulk: { supported: false },
        sort: { supported: false },
        etag: { supported: true },
      },
      filter: { supported: true, maxResults: 200 },
    });
    expect(resourceTypes(base)).toMatchObject({
      totalResults: 2,
      Resources: [
        { endpoint: '/Users', schemaExtensions: [{ schema: enterprise, required: false }] },
        { endpoint: '/Groups', schemaExtensions: [], meta: { location: `${base}/ResourceTypes/Group` } },
      ],
    });
    const all = schemas(base);
    expect(all.Resources.map(({ id }) => id)).toEqual([scimSchemas.user, enterprise, scimSchemas.group]);
    expect(all.Resources[0]?.attributes[0]).toMatchObject({
      name: 'userName',
      required: true,
      caseExact: false,
      uniqueness: 'server',
    });
  });
});

describe('a resource', () => {
  it('is returned with its schemas, groups and metadata', () => {
    expect(viewed()).toEqual({
      schemas: [scimSchemas.user, enterprise],
      id: 'u-1',
      ...ada,
      [enterprise]: { department: 'R', manager: { value: 'boss' } },
      groups: [{ value: 'g-1', display: 'Team' }],
      meta: {
        ...{ resourceType: 'User', created: times.createdAt, lastModified: times.changedAt, version: 'W/"3"' },
        location: 'https://x.test/scim/v2/Users/u-1',
      },
    });
  });

  it.each([
    ['userName', { userName: ada.userName }],
    ['USERNAME, name.givenName', { userName: ada.userName, name: { givenName: 'Ada' } }],
    ['emails.value', { emails: [{ value: 'ada@example.com' }] }],
    [`${enterprise}:department`, { [enterprise]: { department: 'R' } }],
    [enterprise, { [enterprise]: { department: 'R', manager: { value: 'boss' } } }],
    [`${scimSchemas.user}:active`, { active: true }],
    ['shoeSize', {}],
  ])('has only the requested attributes: %s', (attributes, expected) => {
    expect(viewed({ attributes })).toEqual({ schemas: [scimSchemas.user, enterprise], id: 'u-1', ...expected });
  });

  it('omits excluded attributes, as Entra requests groups, but never its ID', () => {
    const group = groupView({ id: 'g-1', attributes: parseGroup(team), ...times }, '', {
      excludedAttributes: 'members,id,schemas',
    });
    expect(group).toMatchObject({ id: 'g-1', displayName: 'Team', schemas: [scimSchemas.group] });
    expect(group).not.toHaveProperty('members');
    expect(viewed({ excludedAttributes: 'name.givenName,emails.type' })).toMatchObject({
      ...{ name: { familyName: 'Byron' }, emails: [{ value: 'ada@example.com', primary: true }] },
    });
    expect(viewed({ excludedAttributes: 'name.givenName' })['name']).toEqual({ familyName: 'Byron' });
  });

  it('cannot be projected by both parameters, or by more paths than the limit', () => {
    expect(refusalOf(() => viewed({ attributes: 'id', excludedAttributes: 'name' }))).toContain('invalidValue');
    expect(refusalOf(() => viewed({ attributes: 'a,'.repeat(50) }))).toContain('invalidValue');
  });

  it('has a weak tag, and a write with another tag is refused', () => {
    for (const tag of [undefined, weakTag(3), '"3"', '*', 'W/"2", W/"3"'])
      expect(refusalOf(() => requireVersion(tag, 3))).toBe('accepted');
    for (const tag of [weakTag(2), '3', '', 'W/"33"'])
      expect(refusalOf(() => requireVersion(tag, 3))).toBe('PRECONDITION_FAILED If-Match');
  });
});

describe('a list', () => {
  it.each([
    [{}, 1, 100],
    [{ startIndex: '0', count: '-1' }, 1, 0],
    [{ startIndex: '-5', count: '201' }, 1, 200],
    [{ startIndex: '21', count: '20', sortBy: 'userName' }, 21, 20],
  ])('begins and ends within its limits for the query %j', (query, startIndex, count) => {
    expect(ScimListQuery.parse(query)).toEqual({ startIndex, count });
  });

  it('states the total and its own length', () => {
    expect(listResponse({ resources: ['a'], totalResults: 7, startIndex: 7 })).toEqual({
      schemas: [scimSchemas.listResponse],
      ...{ totalResults: 7, startIndex: 7, itemsPerPage: 1, Resources: ['a'] },
    });
  });
});

describe('an error', () => {
  const body = (error: AppError) => {
    const { code, message, param, details } = error;
    const envelope = { code, message, param, type: 'conflict_error', request_id: 'r', retryable: false };
    return scimError({ error: { ...envelope, ...(details === undefined ? {} : { details }) } } as ErrorEnvelope); // details are JSON
  };

  it.each([
    ['an address in use', new AppError('ALREADY_EXISTS', 'x'), '409', 'uniqueness'],
    ['the last owner', lastOwner(), '409', undefined],
    ['text that is not JSON', new AppError('MALFORMED_JSON', 'x'), '400', 'invalidSyntax'],
    ['an invalid filter', scimRefusal('invalidFilter', 'x'), '400', 'invalidFilter'],
    ['another version', new AppError('PRECONDITION_FAILED', 'x'), '412', undefined],
    ['an unknown id', new AppError('NOT_FOUND', 'x'), '404', undefined],
  ])('has the SCIM form, with its status as text: %s', (_cause, error, status, scimType) => {
    expect(ScimError.parse(body(error))).toEqual({
      schemas: [scimSchemas.error],
      ...{ status, detail: error.message, ...(scimType === undefined ? {} : { scimType }) },
    });
  });
});

describe('roles of groups', () => {
  const mappings = [
    { group: 'g-owners', role: 'owner' as const },
    { group: 'g-partners', role: 'partner' as const },
  ];

  it('give a person the highest role, and no role without a mapped group', () => {
    expect(roleOfGroups(['g-partners', 'g-owners'], mappings)).toBe('owner');
    expect(roleOfGroups(['g-partners', 'unmapped'], mappings)).toBe('partner');
    expect(roleOfGroups(['unmapped'], mappings)).toBeNull();
  });
});
