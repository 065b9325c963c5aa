import { describe, expect, it } from '@jest/globals';
import { findingsIn } from '../lint/words/check-words.mjs';
import { faultOfSubject } from '../lint/words/rules.mjs';
import { readText } from './repository.ts';

const path = 'contracts/src/route.ts';

type Faulty = Record<string, [text: string, rules: string[]]>;

/** Texts, each with the rules that reject it. They are in a data file, since the check would find them in a source. */
const { sources, documents } = JSON.parse(readText('tests/architecture/faulty-words.json')) as Record<
  'sources' | 'documents',
  Faulty
>;

const acceptable: Record<string, string> = {
  'a question': '// What does a caller see?\n',
  'code in backticks': '// The members `nobody` and `other` of the reply are optional.\n',
  'a member of a contract': 'export type Reply = { known: boolean };\n',
  'a destructured name of its contract': 'const { known } = reply;\n',
  'a public method': 'export class Cache {\n  held() {\n    return 1;\n  }\n}\n',
  'two sides': 'export const join = (left: string, right: string) => left + right;\n',
  'a suppression': '// eslint-disable-next-line no-var -- the test needs one\n',
  'a code or a key': ["export const name = 'no", "body';\n"].join(''),
};

describe('the check of words in sources', () => {
  it.each(Object.entries(sources))('rejects %s', (_what, [text, rules]) => {
    expect(findingsIn(path, text).map(({ rule }) => rule)).toEqual(rules);
  });

  it.each(Object.entries(acceptable))('accepts %s', (_what, text) => {
    expect(findingsIn(path, text)).toEqual([]);
  });

  it('reports the line of the sentence inside its comment', () => {
    expect(findingsIn(path, '\n/**\n * Rules read it.\n * What is absent is null.\n */\n')).toMatchObject([
      { line: 4 },
    ]);
  });
});

describe('the check of words in documents', () => {
  it.each(Object.entries(documents))('finds a fault in %s', (_what, [text, rules]) => {
    expect(findingsIn('docs/page.md', text).map(({ rule }) => rule)).toEqual(rules);
  });

  it('ignores code', () => {
    expect(findingsIn('docs/page.md', 'Text.\n\n```sh\nSo nobody reads it.\n```\n\nAn inline `nobody`.\n')).toEqual([]);
  });
});

it('the subject of a commit is rejected when it has over 72 characters or two semicolons', () => {
  expect(faultOfSubject('Refuse a trial while an earlier invoice is open')).toBeNull();
  expect(faultOfSubject('x'.repeat(73))).toContain('73 characters');
  expect(faultOfSubject('Add a; move b; drop c')).toContain('two semicolons');
});
