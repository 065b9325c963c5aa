import { describe, expect, it } from '@jest/globals';
import { findingsIn } from '../lint/words/check-words.mjs';
import { faultOfSubject } from '../lint/words/rules.mjs';

const path = 'contracts/src/route.ts';

/** Sources, and the rules that refuse each. */
const sources: Record<string, readonly [text: string, rules: readonly string[]]> = {
  'a comment that begins without its noun': ['// Of each key the first one counts.\n', ['opening']],
  'the second sentence of a comment': ['/** Rules read it.\n * What is left is dropped. */\n', ['opening']],
  'a comment over two lines': ['// The count ends where\n// nobody bounds it.\n', ['person']],
  'a message': ["export const message = 'Ask somebody who administers it';\n", ['person']],
  'a template': ['export const message = (n: number) => `So ${n} of them are left`;\n', ['opening']],
  'a word of another century': ['// The plan is computed anew.\n', ['dated']],
  'a name that is a participle': ['export const asked = 1;\n', ['name']],
  'a parameter': ['export function count(other: number) {\n  return other;\n}\n', ['name']],
  'a type': ['export type Told = string;\n', ['name']],
  'a name that a caller chose for a member': ['const { rest: left } = rests;\n', ['name']],
  'a sentence of more than thirty words': [`// ${'word '.repeat(31)}\n`, ['long']],
};

const acceptable: Record<string, string> = {
  'a question': '// What does a caller see?\n',
  'code in backticks': '// The members `nobody` and `other` of the reply are optional.\n',
  'a member of a contract': 'export type Reply = { known: boolean };\n',
  'a name that its owner gave': 'const { known } = reply;\n',
  'two sides': 'export const join = (left: string, right: string) => left + right;\n',
  'a suppression': '// eslint-disable-next-line no-var -- the test needs one\n',
  'a code or a key': "export const name = 'nobody';\n",
};

describe('the words of sources', () => {
  it.each(Object.entries(sources))('refuse %s', (_what, [text, rules]) => {
    expect(findingsIn(path, text).map(({ rule }) => rule)).toEqual(rules);
  });

  it.each(Object.entries(acceptable))('accept %s', (_what, text) => {
    expect(findingsIn(path, text)).toEqual([]);
  });

  it('name the line of a sentence within its comment', () => {
    expect(findingsIn(path, '\n/**\n * Rules read it.\n * What is absent is null.\n */\n')).toMatchObject([
      { line: 4 },
    ]);
  });
});

describe('the words of documents', () => {
  it.each([
    ['a paragraph', 'Text.\n\nWhoever reads this is a person.\n', ['opening', 'person']],
    ['an item', '- By hand it takes longer.\n', ['opening']],
    ['a cell', '| Name | What nobody sees |\n', ['opening', 'person']],
    ['a paragraph over two lines', 'The reader is\nnobody.\n', ['person']],
  ])('are refused in %s', (_what, text, rules) => {
    expect(findingsIn('docs/page.md', text).map(({ rule }) => rule)).toEqual(rules);
  });

  it('are not looked for in code', () => {
    expect(findingsIn('docs/page.md', 'Text.\n\n```sh\nSo nobody reads it.\n```\n\nAn inline `nobody`.\n')).toEqual([]);
  });
});

it('refuses the subject of a commit that is long, or that is three changes', () => {
  expect(faultOfSubject('Refuse a trial while an earlier invoice is open')).toBeNull();
  expect(faultOfSubject('x'.repeat(73))).toContain('73 characters');
  expect(faultOfSubject('Add a; move b; drop c')).toContain('two semicolons');
});
