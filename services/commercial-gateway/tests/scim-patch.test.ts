import { describe, expect, it } from '@jest/globals';
import { scimLimits, scimSchemas, type ScimUser } from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { parseGroup, parseUser, patchGroup, patchUser } from '../src/scim/parse-resource.ts';
import { nextVersion } from '../src/scim/resource-version.ts';
import { ada, patchedAda, patchedTeam, patchOf, refusalOf } from './_scim.ts';

const enterprise = scimSchemas.enterpriseUser;
const text = fc.constantFrom('a', 'b', 'C c', 'x.y@z', '{"[\\]}', '__proto__');
const kind = fc.constantFrom('work', 'home');
const verb = fc.constantFrom('add', 'replace');

/** A step of the naive model, with the PATCH operations that have the same effect. */
type Step = { operations: object[]; apply: (model: Model) => void };
type Model = { texts: Map<string, string>; active: boolean; emails: Map<string, string> };

const capitals = (value: string) => value.charAt(0).toUpperCase() + value.slice(1);
const spellings = (path: string, { schema }: { schema: string } = { schema: scimSchemas.user }) => {
  const qualified = [`${schema}:${path}`, `${schema.toUpperCase()}:${path.toUpperCase()}`];
  return schema === scimSchemas.user ? [path, capitals(path), path.toLowerCase(), ...qualified] : qualified;
};

const places: [string, string[]][] = [
  ...['displayName', 'title', 'name.givenName', 'name.familyName'].map((path): [string, string[]] => [
    path,
    spellings(path),
  ]),
  [`${enterprise}:department`, spellings('department', { schema: enterprise })],
];

const setText = fc.tuple(fc.constantFrom(...places), verb, text).map(([[place, paths], op, value]): Step => ({
  operations: paths.flatMap((path) => [
    { op, path, value },
    { op: capitals(op), path, value },
    { op, value: { [path]: value } },
    { op, path, value: [{ value }] },
  ]),
  apply: ({ texts }) => void texts.set(place, value),
}));
const unsetText = fc.constantFrom(...places).map(([place, paths]): Step => ({
  operations: paths.flatMap((path) => [
    { op: 'remove', path },
    { op: 'Remove', path, value: 'anything' },
    { op: 'replace', path, value: null },
    { op: 'replace', value: { [path]: '' } },
  ]),
  apply: ({ texts }) => void texts.delete(place),
}));
const setActive = fc.tuple(verb, fc.boolean()).map(([op, active]): Step => ({
  operations: spellings('active').flatMap((path) =>
    [active, String(active), capitals(String(active))].flatMap((value) => [
      { op, path, value },
      { op, value: { [path]: value } },
    ]),
  ),
  apply: (model) => void (model.active = active),
}));
const setEmail = fc.tuple(verb, kind, text).map(([op, type, value]): Step => ({
  operations: spellings('emails').map((path) => ({ op, path: `${path}[type eq "${type}"].value`, value })),
  apply: ({ emails }) => void emails.set(type, value),
}));
const unsetEmail = kind.map((type): Step => ({
  operations: ['emails', 'Emails'].flatMap((path) => [
    { op: 'remove', path: `${path}[type eq "${type}"]` },
    { op: 'remove', path: `${path}[Type EQ ${capitals(type)}].value` },
    { op: 'remove', path, value: [{ type }] },
  ]),
  apply: ({ emails }) => void emails.delete(type),
}));
const setEmails = fc.tuple(kind, text).map(([type, value]): Step => ({
  operations: ['emails', 'EMAILS'].flatMap((path) => [
    { op: 'replace', path, value: [{ type, value }] },
    { op: 'replace', value: { [path]: { VALUE: value, Type: type } } },
  ]),
  apply: ({ emails }) => {
    emails.clear();
    emails.set(type, value);
  },
}));

/** Steps, each with one of its equivalent PATCH operations. */
const steps = fc.array(
  fc
    .oneof(setText, unsetText, setActive, setEmail, unsetEmail, setEmails)
    .chain(({ operations, apply }) => fc.constantFrom(...operations).map((operation) => ({ operation, apply }))),
  { minLength: 1, maxLength: 8 },
);

function modelled(user: ScimUser): Model {
  const { name, emails = [], displayName, title, active } = user;
  const texts = Object.entries({
    ...{ displayName, title, 'name.givenName': name?.givenName, 'name.familyName': name?.familyName },
    [`${enterprise}:department`]: user[enterprise]?.department,
  }).flatMap<[string, string]>(([place, value]) => (value === undefined ? [] : [[place, value]]));
  return { texts: new Map(texts), active, emails: new Map(emails.map(({ type, value }) => [type ?? '', value])) };
}

const plain = { userName: 'ada', active: true };

describe('PATCH of a person', () => {
  it('gives the result of a naive model for every spelling, and raises the version when the resource changed', () => {
    fc.assert(
      fc.property(steps, steps, (first, second) => {
        const before = patchUser(plain, patchOf(...first.map(({ operation }) => operation)));
        const after = patchUser(before, patchOf(...second.map(({ operation }) => operation)));
        const model = modelled(plain);
        for (const { apply } of first) apply(model);
        expect(modelled(before)).toEqual(model);
        for (const { apply } of second) apply(model);
        expect(modelled(after)).toEqual(model);
        expect(parseUser(after)).toEqual(after);
        const hasChanged = JSON.stringify(sorted(before)) !== JSON.stringify(sorted(after));
        expect(nextVersion({ before, version: 7 }, after)).toBe(hasChanged ? 8 : 7);
        const again = patchUser(after, patchOf({ op: 'add', value: after }));
        expect(nextVersion({ before: after, version: 8 }, again)).toBe(8);
      }),
      { numRuns: 400 },
    );
  });

  it('never holds more values than the limit, even when a later operation removes them', () => {
    const value = Array.from({ length: scimLimits.values }, (_, index) => `${index}@x.y`);
    const remove = { op: 'remove', path: 'emails' };
    expect(refusalOf(() => patchedAda({ op: 'add', path: 'emails', value }, remove))).toContain('invalidValue emails');
    expect(refusalOf(() => patchedAda({ op: 'replace', path: 'emails', value }, remove))).toBe('accepted');
  });

  it('makes the value that becomes primary the only primary value', () => {
    const { emails } = patchedAda({ op: 'add', path: 'emails', value: { value: 'b@example.com', primary: 'True' } });
    expect(emails?.map(({ value, primary }) => [value, primary])).toEqual([
      ['ada@example.com', false],
      ['b@example.com', true],
    ]);
    const two = [
      { value: 'a', primary: true },
      { value: 'b', primary: true },
    ];
    expect(refusalOf(() => patchedAda({ op: 'replace', path: 'emails', value: two }))).toBe(
      'INVALID_REQUEST invalidValue emails',
    );
  });

  it.each([
    ['__proto__.polluted', 'yes'],
    ['constructor.prototype.polluted', 'yes'],
    ['name.__proto__', { polluted: 'yes' }],
    [`${enterprise}:__proto__`, { polluted: 'yes' }],
    ['emails[type eq "work"].__proto__', { polluted: 'yes' }],
  ])('cannot change anything outside the resource: %s', (path, value) => {
    expect(refusalOf(() => patchedAda({ op: 'add', path, value }))).toContain('invalidPath');
    const member: unknown = JSON.parse(`{ ${JSON.stringify(path)}: ${JSON.stringify(value)} }`);
    expect(refusalOf(() => patchedAda({ op: 'add', value: member }))).toContain('invalidPath');
    expect({}).not.toHaveProperty('polluted');
  });

  it.each([
    ['a path without its closing bracket', { op: 'add', path: 'emails[type eq "work"', value: 'x' }, 'invalidPath'],
    [
      'a path with text after its filter',
      { op: 'add', path: 'emails[type eq "work"]value', value: 'x' },
      'invalidPath',
    ],
    ['a path of three names', { op: 'add', path: 'name.givenName.x', value: 'x' }, 'invalidPath'],
    [
      'a filter on a single value',
      { op: 'add', path: 'name[givenName eq "Ada"].familyName', value: 'x' },
      'invalidPath',
    ],
    [
      'a filter on another attribute',
      { op: 'add', path: 'emails[userName eq "x"].value', value: 'x' },
      'invalidFilter',
    ],
    ['the URI of a foreign schema', { op: 'add', path: 'urn:x:User:active', value: 'x' }, 'invalidPath'],
    ['only the URI of the schema', { op: 'remove', path: scimSchemas.user }, 'invalidPath'],
    ['a remove without a path', { op: 'remove', value: { active: true } }, 'noTarget'],
    ['a remove of a required attribute', { op: 'remove', path: 'userName' }, 'invalidValue'],
    ['a remove with an empty object as value', { op: 'remove', path: 'emails', value: [{}] }, 'invalidValue'],
    ['an add without a value', { op: 'add', path: 'displayName' }, 'invalidValue'],
    ['a list for a single value', { op: 'add', path: 'displayName', value: ['a', 'b'] }, 'invalidValue'],
    ['nested lists', { op: 'add', path: 'displayName', value: [[['a']]] }, 'invalidValue'],
    ['a value that is not an object', { op: 'add', value: 'x' }, 'invalidValue'],
    ['an unknown operation', { op: 'move', path: 'displayName', value: 'x' }, 'invalidSyntax'],
    ['an unknown member', { op: 'add', path: 'displayName', value: 'x', from: 'y' }, 'invalidSyntax'],
    [
      'a change of an attribute that the server sets',
      { op: 'replace', path: 'meta.version', value: 'x' },
      'mutability',
    ],
    [
      'a sub-attribute of a value that does not exist',
      { op: 'add', path: 'emails[type eq "home"].primary', value: true },
      'noTarget',
    ],
    ['a sub-attribute without a value', { op: 'add', path: 'phoneNumbers.type', value: 'work' }, 'noTarget'],
    [
      'more values than the limit',
      { op: 'add', path: 'emails', value: Array.from({ length: 20 }, (_, n) => `${n}@x.y`) },
      'invalidValue',
    ],
    [
      'a new value with a filter that does not describe one',
      { op: 'add', path: 'emails[type ne "work"].value', value: 'x' },
      'noTarget',
    ],
  ])('is refused for %s', (_fault, operation, type) => {
    expect(refusalOf(() => patchedAda(operation))).toContain(`INVALID_REQUEST ${type}`);
  });

  it('needs the schema URI of PATCH', () => {
    expect(refusalOf(() => patchUser(ada, { schemas: [], Operations: [{ op: 'remove', path: 'title' }] }))).toBe(
      'INVALID_REQUEST invalidSyntax schemas',
    );
  });

  it('handles an extension as a whole', () => {
    const set = patchedAda({ op: 'add', path: enterprise, value: { department: 'R', costCenter: '1' } });
    expect(set[enterprise]).toEqual({ department: 'R', costCenter: '1' });
    expect(patchUser(set, patchOf({ op: 'remove', path: enterprise }))).toEqual(ada);
    expect(refusalOf(() => patchedAda({ op: 'add', path: enterprise, value: { title: 'x' } }))).toContain(
      'invalidPath',
    );
  });
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.map(([name, member]) => [name, sorted(member)]);
}

const id = fc.constantFrom('u-1', 'u-2', 'a.b@c.d', 'urn:x:1', 'q"]\\', '__proto__');
const ids = fc.uniqueArray(id, { minLength: 1, maxLength: 4 });
type GroupStep = { operation: object; apply: (members: Set<string>) => void };
const groupStep = fc.oneof(
  fc
    .tuple(ids, fc.constantFrom('members', 'Members', `${scimSchemas.group}:members`))
    .map(([values, path]): GroupStep => ({
      operation: { op: 'Add', path, value: values.map((value) => ({ value, display: undefined })) },
      apply: (members) => values.forEach((value) => members.add(value)),
    })),
  ids.map((values): GroupStep => ({
    operation: { op: 'add', value: { members: values } },
    apply: (members) => values.forEach((value) => members.add(value)),
  })),
  id.map((value): GroupStep => ({
    operation: { op: 'remove', path: `members[value eq ${JSON.stringify(value)}]` },
    apply: (members) => void members.delete(value),
  })),
  ids.map((values): GroupStep => ({
    operation: { op: 'Remove', path: 'members', value: values.map((value) => ({ value })) },
    apply: (members) => values.forEach((value) => members.delete(value)),
  })),
  ids.map((values): GroupStep => ({
    operation: { op: 'Replace', path: 'members', value: values.map((value) => ({ value })) },
    apply: (members) => {
      members.clear();
      values.forEach((value) => members.add(value));
    },
  })),
  fc.constant<GroupStep>({ operation: { op: 'remove', path: 'members' }, apply: (members) => members.clear() }),
);

describe('PATCH of a group', () => {
  it('treats members as a set, whose order does not affect the version', () => {
    fc.assert(
      fc.property(ids, fc.array(groupStep, { minLength: 1, maxLength: 8 }), (values, all) => {
        const before = { displayName: 'T', members: values.map((value) => ({ value })) };
        const after = patchGroup(before, patchOf(...all.map(({ operation }) => operation)));
        const model = new Set(values);
        for (const { apply } of all) apply(model);
        const found = after.members?.map(({ value }) => value) ?? [];
        expect(found.toSorted()).toEqual([...model].toSorted());
        const isSame = model.size === values.length && values.every((value) => model.has(value));
        expect(nextVersion({ before, version: 1 }, after)).toBe(isSame ? 1 : 2);
      }),
      { numRuns: 400 },
    );
  });

  const people = (count: number, prefix = 'u') =>
    Array.from({ length: count }, (_, index) => ({ value: `${prefix}-${index}` }));

  it.each([
    ['operations', scimLimits.patchOperations, Array.from({ length: 501 }, () => ({ op: 'remove', path: 'members' }))],
    ['characters of a path', scimLimits.pathLength, [{ op: 'remove', path: `members[value eq "${'x'.repeat(512)}"]` }]],
  ])('has a limit of %s: %d', (_what, _limit, operations) => {
    expect(refusalOf(() => patchedTeam(...operations))).toMatch(/^INVALID_REQUEST invalid(Syntax|Value)/);
  });

  it('keeps existing members unchanged, with one member per person', () => {
    const added = [{ value: 'usr-3', type: 'User' }, { value: 'usr-4' }, { value: 'usr-4', display: 'Four' }];
    const { members } = patchedTeam({ op: 'add', path: 'members', value: added });
    expect(members?.slice(2)).toEqual([{ value: 'usr-3' }, { value: 'usr-4', display: 'Four' }]);
    const path = 'members[value eq "usr-3"].value';
    expect(refusalOf(() => patchedTeam({ op: 'replace', path, value: 'usr-9' }))).toBe(
      `INVALID_REQUEST mutability ${path}`,
    );
    expect(
      refusalOf(() => patchedTeam({ op: 'add', path: 'members', value: { value: 'g', type: 'Group' } })),
    ).toContain('invalidValue');
    expect(refusalOf(() => patchedTeam({ op: 'remove', path: 'members', value: [{ display: 'x' }] }))).toContain(
      'invalidValue',
    );
  });

  it('accepts filters other than by one ID only for a small group', () => {
    const many = { displayName: 'T', members: people(scimLimits.filteredValues + 1) };
    const filters = ['display eq "x"', 'type eq "User"', 'value sw "u"', 'value eq "a" or value eq "b"'];
    for (const path of ['members.display', ...filters.map((filter) => `members[${filter}]`)]) {
      const operation = patchOf({ op: 'remove', path });
      expect(refusalOf(() => patchGroup(many, operation))).toContain('invalidPath');
      expect(refusalOf(() => patchGroup({ ...many, members: many.members.slice(1) }, operation))).toBe('accepted');
    }
    const terms = Array.from({ length: scimLimits.pathTerms + 1 }, () => 'value eq "a"').join(' or ');
    expect(refusalOf(() => patchedTeam({ op: 'remove', path: `members[${terms}]` }))).toContain('invalidPath');
    expect(refusalOf(() => patchedTeam({ op: 'remove', path: `members[${terms.slice(16)}]` }))).toBe('accepted');
  });

  it('has a limit of values over all operations, and of members of the group', () => {
    const half = people(2_501);
    const twice = [half, half].map((value) => ({ op: 'add', path: 'members', value }));
    expect(refusalOf(() => patchedTeam(...twice))).toBe('PAYLOAD_TOO_LARGE');
    const spellings = { members: half, Members: half };
    expect(refusalOf(() => patchedTeam({ op: 'add', value: spellings }))).toBe('PAYLOAD_TOO_LARGE');
    expect(refusalOf(() => parseGroup({ displayName: 'T', ...spellings }))).toBe('PAYLOAD_TOO_LARGE');
    const full = { displayName: 'T', members: people(scimLimits.membersPerGroup) };
    const one = patchOf({ op: 'add', path: 'members', value: people(1, 'other') });
    expect(refusalOf(() => patchGroup(full, one))).toBe('INVALID_REQUEST invalidValue members');
    expect(refusalOf(() => patchGroup({ ...full, members: full.members.slice(1) }, one))).toBe('accepted');
  });
});
