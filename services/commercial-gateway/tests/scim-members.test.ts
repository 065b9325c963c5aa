import { describe, expect, it } from '@jest/globals';
import { scimLimits } from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { patchGroup } from '../src/scim/parse-resource.ts';
import { patchOf, refusalOf } from './_scim.ts';

const idOf = (nth: number) => `scu_01ARZ3NDEKTSV4RRFFQ${String(nth).padStart(7, '0')}`;
const groupOf = (count: number) => ({
  displayName: 'All',
  members: Array.from({ length: count }, (_, nth) => ({ value: idOf(nth) })),
});
const many = (count: number, operation: (nth: number) => object) =>
  patchOf(...Array.from({ length: count }, (_, nth) => operation(nth)));

const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1, maxLength: 3 });
const operation = fc.oneof(
  fc.record({ kind: fc.constantFrom('add', 'remove', 'replace'), ids }),
  fc.record({ kind: fc.constant('remove_one'), ids }),
);

/** Applies an operation to a plain set, as the expected result. */
function expected(before: readonly string[], { kind, ids: named }: { kind: string; ids: string[] }): string[] {
  if (kind === 'add') return [...new Set([...before, ...named])];
  if (kind === 'replace') return named;
  const removed = kind === 'remove_one' ? named.slice(0, 1) : named;
  return before.filter((id) => !removed.includes(id));
}

function requested({ kind, ids: named }: { kind: string; ids: string[] }): object {
  if (kind === 'remove_one') return { op: 'remove', path: `members[value eq "${named[0]}"]` };
  return { op: kind, path: 'members', value: named.map((value) => ({ value })) };
}

describe('operations on the members of a group', () => {
  it('change a set in the order of the request', () => {
    fc.assert(
      fc.property(ids, fc.array(operation, { minLength: 1, maxLength: 8 }), (before, operations) => {
        const members = before.map((value) => ({ value }));
        const after = patchGroup({ displayName: 'x', members }, patchOf(...operations.map(requested)));
        expect((after.members ?? []).map(({ value }) => value)).toEqual(operations.reduce(expected, before));
      }),
    );
  });

  it.each([
    ['added', (nth: number) => ({ op: 'add', path: 'members', value: [{ value: idOf(9_500 + nth) }] }), 10_000],
    ['removed by a path', (nth: number) => ({ op: 'remove', path: `members[value eq "${idOf(nth)}"]` }), 9_000],
    ['removed by a value', (nth: number) => ({ op: 'remove', path: 'members', value: [{ value: idOf(nth) }] }), 9_000],
    ['absent', () => ({ op: 'remove', path: 'members[value eq "scu_none"]' }), 9_500],
  ])(
    'do not read the other members of the largest group when five hundred members in one request are %s',
    (_what, step, count) => {
      expect(patchGroup(groupOf(9_500), many(scimLimits.patchOperations, step)).members).toHaveLength(count);
    },
  );

  it.each([
    ['filters', 1_000, () => ({ op: 'remove', path: 'members[value co "zzz" or display co "z"]' }), 16],
    ['labels', 1_000, (nth: number) => ({ op: 'replace', path: 'members.display', value: `x${nth}` }), 31],
    ['lists', 9_500, () => ({ op: 'remove', path: 'members', value: [{ value: 'x', display: 'y' }] }), 4],
  ])('are refused when they compare too many members: %s', (_what, members, step, refusedFrom) => {
    const patch = (count: number) => refusalOf(() => patchGroup(groupOf(members), many(count, step)));
    expect([patch(refusedFrom - 1), patch(refusedFrom)]).toEqual(['accepted', 'PAYLOAD_TOO_LARGE']);
  });
});
