import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { scimError, scimSchemas, type ScimUser } from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { scimPatch, type ScimPatchOperation } from 'scim-patch';
import { Messages, Schemas, Types } from 'scimmy';
import { listResponse } from '../src/scim/list-response.ts';
import { parseUser, patchUser } from '../src/scim/parse-resource.ts';
import { matches } from '../src/scim/predicate.ts';
import { parseUserFilter } from '../src/scim/resource-filters.ts';
import { nextVersion } from '../src/scim/resource-version.ts';
import { groupView, userView } from '../src/scim/resource-view.ts';
import { ada, patchOf, team } from './_scim.ts';

const enterprise = scimSchemas.enterpriseUser;
// scimmy stores extensions globally, in the class of the resource.
Schemas.User.definition.extend(Schemas.EnterpriseUser.definition, false);

const verb = fc.constantFrom('add', 'replace');
const text = fc.constantFrom('a', 'b', 'C c', 'x.y@z');
const kind = fc.constantFrom('work', 'home');
const ordinary = fc.oneof(
  fc.record({
    op: verb,
    path: fc.constantFrom('displayName', 'title', 'name.givenName', `${enterprise}:department`),
    value: text,
  }),
  fc.record({ op: verb, path: fc.constant('name'), value: fc.record({ givenName: text, formatted: text }) }),
  fc.record({ op: verb, value: fc.record({ title: text, active: fc.boolean() }) }),
  fc.record({
    op: fc.constant('remove'),
    path: fc.constantFrom('title', 'name.familyName', 'name', 'emails', 'emails[type eq "work"]'),
  }),
  fc.record({
    op: verb,
    path: fc.constantFrom('emails[type eq "work"].value', 'emails[type eq "home"].value'),
    value: text,
  }),
  fc.record({ op: verb, path: fc.constant('emails'), value: fc.tuple(fc.record({ value: text, type: kind })) }),
) as fc.Arbitrary<ScimPatchOperation>;
/** Requests in the form of the standard. */
const requests = fc.array(ordinary, { minLength: 1, maxLength: 6 });

/** Returns a copy without `schemas`, `id`, `meta`, empty objects and empty lists. */
function bare(resource: unknown): unknown {
  if (Array.isArray(resource)) return resource.map(bare);
  if (typeof resource !== 'object' || resource === null) return resource;
  const entries = Object.entries(resource).filter(([name]) => !['schemas', 'id', 'meta'].includes(name));
  const full = entries.filter(([, value]) => typeof value !== 'object' || Object.keys(value as object).length > 0);
  return Object.fromEntries(full.map(([name, value]) => [name, bare(value)]));
}

/**
 * Returns the result of scim-patch. `null` when it refuses the request, such as a removal from an attribute without
 * values.
 */
function byScimPatch(user: object, operations: readonly ScimPatchOperation[]): unknown {
  try {
    return bare(scimPatch(structuredClone({ ...user, schemas: [] }) as never, structuredClone([...operations]))); // the type requires `meta`
  } catch {
    return null;
  }
}

function isWithoutRepetition(user: object): boolean {
  const emails =
    'emails' in user && Array.isArray(user.emails) ? user.emails.map((email) => JSON.stringify(email)) : [];
  return new Set(emails).size === emails.length;
}

/** Returns the result of scimmy. `null` when it refuses the request, such as a value that only a filter describes. */
async function byScimmy(user: ScimUser, operations: readonly ScimPatchOperation[]): Promise<object | null> {
  try {
    const request = new Messages.PatchOp(patchOf(...structuredClone(operations)) as never); // bodies have the type of its own classes
    const after: unknown = await request.apply(new Schemas.User({ id: 'u-1', ...structuredClone(user) }));
    return bare(JSON.parse(JSON.stringify(after ?? user))) as object; // a user is an object
  } catch {
    return null;
  }
}

describe('PATCH compared with other libraries', () => {
  it('gives the result of scim-patch', () => {
    fc.assert(
      fc.property(requests, (operations) => {
        const theirs = byScimPatch(ada, operations);
        fc.pre(theirs !== null);
        expect(bare(patchUser(ada, patchOf(...operations)))).toEqual(theirs);
      }),
      { numRuns: 400 },
    );
  });

  it('gives the result of scimmy, and a new version when the resource changed', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (operations) => {
        // scimmy replaces a complex value as a whole. RFC 7644 §3.5.2.3 keeps members that are not sent.
        fc.pre(!operations.some(({ op, path }) => op === 'replace' && path === 'name'));
        const theirs = await byScimmy(ada, operations);
        // scimmy adds an existing value a second time.
        fc.pre(theirs !== null && isWithoutRepetition(theirs));
        const after = patchUser(ada, patchOf(...operations));
        expect(bare(after)).toEqual(theirs);
        const isSame = isDeepStrictEqual(theirs, bare(ada));
        expect(nextVersion({ before: ada, version: 1 }, after)).toBe(isSame ? 1 : 2);
      }),
      { numRuns: 400 },
    );
  });
});

describe('a filter compared with scimmy', () => {
  const value = fc.constantFrom('a', 'b', 'ab', 'ba');
  const term = fc
    .tuple(
      fc.constantFrom('userName', 'externalId', 'displayName'),
      fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew'),
      value,
    )
    .map(([path, operator, wanted]) => `${path} ${operator} "${wanted}"`);
  const joint = fc.constantFrom(' and ', ' or ');
  const filter = fc
    .tuple(term, fc.array(fc.tuple(joint, term), { maxLength: 3 }))
    .map(([first, more]) => first + more.map(([word, next]) => word + next).join(''));

  // Negations are omitted, because scimmy 1.3.5 parses `not (a or b)` as `not a or not b`.
  it('selects the same resources', () => {
    fc.assert(
      fc.property(filter, fc.record({ userName: value, externalId: value, displayName: value }), (sent, row) => {
        const found = matches(parseUserFilter(sent), (path) => (path in row ? [row[path as keyof typeof row]] : [])); // `in` checks it
        expect([sent, found]).toEqual([sent, new Types.Filter(sent).match([row]).length === 1]);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('an answer parsed by scimmy', () => {
  const times = { version: 1, createdAt: '2026-11-27T00:00:00.000Z', changedAt: '2026-11-28T00:00:00.000Z' };
  const user = parseUser({ ...ada, phoneNumbers: '+1 201 555 0123', [enterprise]: { department: 'R' } });

  it('is a valid user or group', () => {
    const ours = userView({ id: 'u-1', attributes: user, groups: [], ...times }, 'https://x.test', {});
    expect(bare(JSON.parse(JSON.stringify(new Schemas.User(ours as never, 'out'))))).toEqual(bare(ours)); // our type is a record
    const group = groupView({ id: 'g-1', attributes: team, ...times }, 'https://x.test', {});
    expect(bare(JSON.parse(JSON.stringify(new Schemas.Group(group as never, 'out'))))).toEqual(bare(group)); // the same
  });

  it('is a valid list or error', () => {
    const page = { totalResults: 3, startIndex: 2, itemsPerPage: 1 };
    expect(new Messages.ListResponse([{ id: 'u-1' }] as never, page)).toMatchObject(
      listResponse({ resources: [{ id: 'u-1' }], ...page }),
    ); // any object is a resource
    const error = {
      message: 'taken',
      type: 'conflict_error',
      code: 'ALREADY_EXISTS',
      param: null,
      request_id: 'r',
      retryable: false,
    } as const;
    const theirs = new Messages.ErrorResponse({ status: 409, scimType: 'uniqueness', detail: 'taken' } as never); // its type is a class
    expect(JSON.parse(JSON.stringify(theirs))).toEqual(scimError({ error }));
  });
});
