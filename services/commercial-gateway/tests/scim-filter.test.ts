import { describe, expect, it } from '@jest/globals';
import { scimLimits } from '@countersign/contracts/commercial-gateway';
import fc from 'fast-check';
import { matches, type Predicate } from '../src/scim/predicate.ts';
import { parseGroupFilter, parseUserFilter, type UserPath } from '../src/scim/resource-filters.ts';
import { refusalOf } from './_scim.ts';

type Row = { externalId: string | null; userName: string; emails: string[]; active: boolean };
type Naive = { text: string; holds: (row: Row) => boolean };

const word = fc.string({ unit: fc.constantFrom('a', 'B', 'b', ' ', '"', '\\', '\n', ')', ']', 'ß'), maxLength: 3 });
const row = fc.record<Row>({
  externalId: fc.option(word.filter((value) => value !== '')),
  userName: word,
  emails: fc.array(word, { maxLength: 2 }),
  active: fc.boolean(),
});

const operators: Record<string, (value: string, wanted: string) => boolean> = {
  eq: (value, wanted) => value === wanted,
  co: (value, wanted) => value.includes(wanted),
  sw: (value, wanted) => value.startsWith(wanted),
  ew: (value, wanted) => value.endsWith(wanted),
};
const named: Record<string, (row: Row) => string[]> = {
  externalId: ({ externalId }) => (externalId === null ? [] : [externalId]),
  userName: ({ userName }) => [userName.toLowerCase()],
  'emails.value': ({ emails }) => emails.map((value) => value.toLowerCase()),
};
const spelled = (text: string) => fc.constantFrom(text, text.toUpperCase());

const comparison = fc
  .tuple(fc.constantFrom(...Object.keys(named)), fc.constantFrom('eq', 'ne', 'co', 'sw', 'ew'), word)
  .chain(([path, operator, value]) =>
    fc.tuple(spelled(path), spelled(operator)).map(([name, op]): Naive => {
      const wanted = path === 'externalId' ? value : value.toLowerCase();
      const test = operators[operator === 'ne' ? 'eq' : operator] ?? (() => false);
      const found = (one: Row) => (named[path]?.(one) ?? []).some((each) => test(each, wanted));
      return {
        text: `${name} ${op} ${JSON.stringify(value)}`,
        holds: (one) => (operator === 'ne' ? !found(one) : found(one)),
      };
    }),
  );
const others = fc.constantFrom<Naive>(
  { text: 'externalId pr', holds: ({ externalId }) => externalId !== null },
  { text: 'externalId eq null', holds: ({ externalId }) => externalId === null },
  { text: 'externalId ne null', holds: ({ externalId }) => externalId !== null },
  { text: 'active eq true', holds: ({ active }) => active },
  { text: 'active eq "False"', holds: ({ active }) => !active },
  { text: 'active ne true', holds: ({ active }) => !active },
);
const { filter } = fc.letrec<{ filter: Naive }>((tie) => ({
  filter: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    comparison,
    others,
    tie('filter').map(({ text, holds }): Naive => ({ text: `not (${text})`, holds: (one) => !holds(one) })),
    fc.tuple(tie('filter'), tie('filter')).map(([a, b]): Naive => ({
      text: `(${a.text}) and ${b.text.includes(' or ') ? `(${b.text})` : b.text}`,
      holds: (one) => a.holds(one) && b.holds(one),
    })),
    fc
      .tuple(tie('filter'), tie('filter'))
      .map(([a, b]): Naive => ({ text: `${a.text} or (${b.text})`, holds: (one) => a.holds(one) || b.holds(one) })),
  ),
}));

const holds = (predicate: Predicate<UserPath>, one: Row) =>
  matches(predicate, (path) => {
    if (path === 'active') return [one.active];
    if (path === 'externalId') return one.externalId === null ? [] : [one.externalId];
    return path === 'userName' ? [one.userName] : one.emails;
  });

describe('a filter', () => {
  it('selects the same as a naive implementation, with any characters in its values', () => {
    fc.assert(
      fc.property(filter, fc.array(row, { minLength: 1, maxLength: 5 }), ({ text, holds: naive }, rows) => {
        fc.pre(text.length <= scimLimits.filterLength && text.split('(').length <= scimLimits.filterDepth);
        const predicate = parseUserFilter(text);
        for (const one of rows) expect([text, holds(predicate, one)]).toEqual([text, naive(one)]);
      }),
      { numRuns: 1_000 },
    );
  });

  it('compares names case-insensitively and IDs case-sensitively', () => {
    const userName = { kind: 'string', path: 'userName', operator: 'eq', value: 'ada', sent: 'Ada', folded: true };
    expect(parseUserFilter('userName eq "Ada"')).toEqual(userName);
    const externalId = { ...userName, path: 'externalId', value: 'Ada', folded: false };
    expect(parseUserFilter('externalId eq "Ada"')).toEqual(externalId);
  });

  it('evaluates `and` before `or`', () => {
    const pieces = [['a', 'b'], ['c']].map((names) => names.map((value) => ({ kind: 'string', value })));
    const expected = { kind: 'or', operands: [{ kind: 'and', operands: pieces[0] }, pieces[1]?.[0]] };
    expect(parseUserFilter('id eq "a" and id eq "b" or id eq "c"')).toMatchObject(expected);
  });

  it('finds the groups of a member in the query of Entra', () => {
    const id = { kind: 'string', path: 'id', operator: 'eq', value: 'g', sent: 'g', folded: false };
    const members = { kind: 'string', path: 'members.value', operator: 'eq', value: 'u', sent: 'u', folded: false };
    expect(parseGroupFilter('id eq "g" and members eq "u"')).toEqual({ kind: 'and', operands: [id, members] });
  });

  it.each([
    ['an attribute that is not stored', 'shoeSize eq "41"'],
    ['a property name of every JavaScript object', 'constructor pr'],
    ['an operator that needs an order', 'userName gt "a"'],
    ['a missing value', 'userName eq'],
    ['a bracket as a value', 'userName eq )'],
    ['a missing operator', 'userName "a"'],
    ['text after the end', 'userName eq "a" "b"'],
    ['a missing closing quotation mark', 'userName eq "a'],
    ['an escape that JSON does not have', 'userName eq "\\x"'],
    ['unquoted text after an operator other than eq', 'userName co ada'],
    ['a boolean that is compared with text', 'active eq "maybe"'],
    ['a boolean that is searched', 'active co "true"'],
    ['a filter in brackets', 'emails[type eq "work"]'],
    ['a missing closing parenthesis', '(userName eq "a"'],
    ['a filter over the length limit', `userName eq "${'a'.repeat(scimLimits.filterLength)}"`],
    ['parentheses over the depth limit', `${'('.repeat(17)}userName pr${')'.repeat(17)}`],
    ['negations over the depth limit', `${'not '.repeat(17)}userName pr`],
    ['only negations and parentheses', 'not ('.repeat(200)],
  ])('is refused with invalidFilter for %s', (_fault, text) => {
    expect(refusalOf(() => parseUserFilter(text))).toBe('INVALID_REQUEST invalidFilter');
  });

  it('is refused in linear time for line feeds in an unclosed value', () => {
    // scim2-parse-filter takes exponential time for line feeds. With 60 of them this test would not end.
    const feeds = '\n'.repeat(60);
    expect(refusalOf(() => parseUserFilter(`userName eq "${feeds}`))).toBe('INVALID_REQUEST invalidFilter');
  });

  it('is accepted at the greatest depth', () => {
    expect(parseUserFilter(`${'('.repeat(16)}userName pr${')'.repeat(16)}`)).toEqual({
      kind: 'present',
      path: 'userName',
    });
  });
});
