import { describe, expect, it } from '@jest/globals';
import { openApiText } from '@countersign/contracts/openapi';
import { serviceNames, type ServiceName } from '@countersign/services';
import { verifies } from '@countersign/testkit/verifies';
import { readText } from '../architecture/repository.ts';
import { incompatibilities, type OpenApi } from './incompatibilities.ts';
import { readRelease } from './released-contract.ts';

const released = readRelease();
const current = (name: ServiceName) => JSON.parse(openApiText(name)) as OpenApi; // generated as this type

/** The changelog entries of the unreleased version under "Breaking". */
function announcedBreaks(): string {
  const [, unreleased = ''] = readText('CHANGELOG.md').split(/^## Unreleased$/m);
  const [, breaking = ''] = (unreleased.split(/^## /m)[0] ?? '').split(/^### Breaking$/m);
  return breaking.split(/^### /m)[0] ?? '';
}

describe('the contracts, compared with the last release', () => {
  verifies('sys.additive', 'break no client without an entry in the changelog that says what to do', () => {
    const announced = announcedBreaks();
    const found = serviceNames.flatMap((name) => incompatibilities(released.documents[name], current(name)));
    expect(found.filter(({ operation }) => !announced.includes(`\`${operation}\``))).toEqual([]);
  });
});

/** A contract with an example of each thing that may change. */
const small = {
  paths: {
    '/api/notes/{id}': {
      post: {
        security: [{ session: [] }],
        parameters: [{ in: 'query', name: 'limit', schema: { type: 'integer', maximum: 200 } }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Draft' } } },
        },
        responses: {
          '404': { description: 'NOT_FOUND, GONE' },
          '200': { content: { 'application/json': { schema: { $ref: '#/components/schemas/Note' } } } },
        },
      },
    },
    '/internal/notes': { get: { responses: { '200': {} } } },
  },
  components: {
    schemas: {
      Draft: {
        type: 'object',
        properties: {
          text: { type: 'string', maxLength: 500 },
          kind: { enum: ['plain', 'rich'] },
          to: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        },
        required: ['text'],
        additionalProperties: false,
      },
      Note: {
        type: 'object',
        properties: {
          id: { type: 'string' },
          code: { enum: ['SAVED', 'KEPT'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Note' } },
        },
        required: ['id', 'code'],
        additionalProperties: false,
      },
    },
  },
} satisfies OpenApi;
type Small = typeof small;

const post = ({ paths }: Small) => paths['/api/notes/{id}'].post;
const draft = ({ components }: Small) => components.schemas.Draft;
const note = ({ components }: Small) => components.schemas.Note;
const set = (target: object, members: object) => Object.assign(target, members);
const remove = (target: object, name: string) => Reflect.deleteProperty(target, name);

const breaks: [string, (contract: Small) => unknown][] = [
  ['the operation was removed', ({ paths }) => remove(paths['/api/notes/{id}'], 'post')],
  ['the operation was removed', ({ paths }) => remove(paths, '/api/notes/{id}')],
  ['the credentials changed', (contract) => set(post(contract), { security: [{ adminKey: [] }] })],
  ['query limit was removed', (contract) => set(post(contract), { parameters: [] })],
  [
    'query page became required',
    (contract) => post(contract).parameters.push({ in: 'query', name: 'page', required: true } as never),
  ],
  [
    'query limit has a stricter maximum',
    (contract) => set(post(contract).parameters[0]?.schema ?? {}, { maximum: 100 }),
  ],
  [
    'request application/json was removed',
    (contract) => remove(post(contract).requestBody.content, 'application/json'),
  ],
  ['status 404 lost the code GONE', (contract) => set(post(contract).responses['404'], { description: 'NOT_FOUND' })],
  ['status 200 was removed', (contract) => remove(post(contract).responses, '200')],
  [
    'reply application/json was removed',
    (contract) => remove(post(contract).responses['200'].content, 'application/json'),
  ],
  ['request.kind was removed', (contract) => remove(draft(contract).properties, 'kind')],
  ['request.kind became required', (contract) => draft(contract).required.push('kind')],
  ['request.kind lost the value "rich"', (contract) => draft(contract).properties.kind.enum.pop()],
  ['request.text has a stricter maxLength', (contract) => set(draft(contract).properties.text, { maxLength: 50 })],
  ['request.text has another pattern', (contract) => set(draft(contract).properties.text, { pattern: '^a' })],
  ['request.to no longer takes null', (contract) => draft(contract).properties.to.anyOf.pop()],
  ['reply.id was removed', (contract) => remove(note(contract).properties, 'id')],
  ['reply.id became optional', (contract) => note(contract).required.shift()],
  ['reply.id may be null', (contract) => set(note(contract).properties.id, { type: ['string', 'null'] })],
  ['reply.code lost the value "KEPT"', (contract) => note(contract).properties.code.enum.pop()],
  ['reply.parts[] may be string', (contract) => set(note(contract).properties.parts, { items: { type: 'string' } })],
];

const additions: [string, (contract: Small) => unknown][] = [
  ['a route', ({ paths }) => set(paths, { '/api/more': { get: { responses: {} } } })],
  ['a member of a reply', (contract) => set(note(contract).properties, { more: { type: 'string' } })],
  ['a member that a reply always has', (contract) => note(contract).required.push('parts')],
  ['a code', (contract) => note(contract).properties.code.enum.push('MOVED')],
  ['an optional member of a request', (contract) => set(draft(contract).properties, { more: { type: 'string' } })],
  ['a value of a request', (contract) => draft(contract).properties.kind.enum.push('wide')],
  ['more room', (contract) => set(draft(contract).properties.text, { maxLength: 5_000 })],
  ['an alternative of a request', (contract) => draft(contract).properties.to.anyOf.push({ type: 'number' })],
  ['another credential', (contract) => post(contract).security.push({ adminKey: [] } as never)],
  ['a status', (contract) => set(post(contract).responses, { '202': {} })],
  ['the end of an internal route', ({ paths }) => remove(paths, '/internal/notes')],
];

describe('the comparison of two contracts', () => {
  const changed = (change: (contract: Small) => unknown): string[] => {
    const after = structuredClone(small);
    change(after);
    return incompatibilities(small, after).map(({ problem }) => problem);
  };

  it.each(breaks)('finds that %s', (problem, change) => {
    expect(changed(change)).toContain(problem);
  });

  it.each(additions)('accepts %s', (_name, change) => {
    expect(changed(change)).toEqual([]);
  });

  it('finds a removed reason code', () => {
    const before = released.documents['governance-kernel'];
    const after = structuredClone(before);
    const gone = after.components.schemas['ReasonCode']?.enum?.pop();
    const problems = incompatibilities(before, after).map(({ problem }) => problem);
    expect(problems.some((problem) => problem.endsWith(`lost the value ${JSON.stringify(gone)}`))).toBe(true);
  });
});
