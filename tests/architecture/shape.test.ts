import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { listSources, readText, root, units } from './repository.ts';

/** Over 200 lines a file gets a second look, over 400 it does not merge. */
const fileLinesMax = 400;
/** Names that say nothing of what a file holds. */
const emptyNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'types', 'manager', 'impl']);

const written = ['contracts', 'packages', 'services', 'infra', 'tests'].flatMap(listSources);

describe('shape of the tree', () => {
  it('no file is longer than 400 lines', () => {
    expect(written.filter((path) => readText(path).split('\n').length - 1 > fileLinesMax)).toEqual([]);
  });

  it('files are named in kebab-case after what they hold', () => {
    const names = written.map((path) => ({
      path,
      name: path.slice(path.lastIndexOf('/') + 1).replace(/(\.(test|deploy|update))?\.tsx?$/, ''),
    }));
    expect(names.filter(({ name }) => !/^_?[a-z0-9]+(-[a-z0-9]+)*$/.test(name)).map(({ path }) => path)).toEqual([]);
    expect(names.filter(({ name }) => emptyNames.has(name)).map(({ path }) => path)).toEqual([]);
  });

  it('services are the four that the architecture names', () => {
    const services = units().filter((unit) => unit.startsWith('services/'));
    const named = ['gateway', 'governance-kernel', 'control-plane', 'commercial-gateway'].map(
      (name) => `services/${name}`,
    );
    expect(services.filter((service) => !named.includes(service))).toEqual([]);
  });
});

const linted = [
  'packages/crypto/src/index.ts',
  'services/gateway/src/index.ts',
  'infra/local/src/index.ts',
  'packages/console/src/shell/shell.tsx',
];
const refusedTexts = {
  'a suppression without a reason': [
    '// eslint-disable-next-line no-var\nvar a = 1;\n',
    expect.arrayContaining(['countersign/explained-suppression']),
  ],
  'a constant in capitals': [
    'export const SIZE_MAX = 1;\nexport const SIZE = 1;\n',
    ['@typescript-eslint/naming-convention', '@typescript-eslint/naming-convention'],
  ],
  'to export whatever another file exports': [
    "export * from './other.ts';\n",
    expect.arrayContaining(['no-restricted-syntax']),
  ],
} as const;
const acceptedTexts = {
  'a suppression that says why': '// eslint-disable-next-line no-var -- an attack needs it here\nexport var a = 1;\n',
  'a constant and a schema': 'export const sizeMax = 1;\nexport const TaskId = sizeMax;\n',
  'to export what it names': "export { a } from './other.ts';\n",
};

describe('lint', () => {
  const texts = [...Object.values(refusedTexts).map(([text]) => text), ...Object.values(acceptedTexts)];
  let seen: { rules: Record<string, Record<string, unknown[]>>; spoken: string[][] };
  beforeAll(() => {
    seen = probeLint({ paths: linted, texts });
  });
  const spokenOf = (text: string) => seen.spoken[texts.indexOf(text)];

  it.each(linted)('holds %s to the size rules and the rules without exemption', (path) => {
    const rules = seen.rules[path] ?? {};
    expect(rules['max-lines']).toEqual([2, expect.objectContaining({ max: 400, skipBlankLines: false })]);
    expect(rules['max-lines-per-function']).toEqual([2, expect.objectContaining({ max: 60, skipBlankLines: false })]);
    for (const rule of strictRules) expect([rule, rules[rule]?.[0]]).toEqual([rule, 2]);
  });

  it.each(Object.entries(refusedTexts))('refuses %s', (_what, [text, rules]) => {
    expect(spokenOf(text)).toEqual(rules);
  });

  it.each(Object.entries(acceptedTexts))('accepts %s', (_what, text) => {
    expect(spokenOf(text)).toEqual([]);
  });

  it('is never switched off as a whole, which would silence the rule above too', () => {
    const blanket = /eslint-disable(?:-next-line|-line)?\s*(?:--|\*\/|$)|eslint-disable[^\n]*countersign\//m;
    expect(written.filter((path) => blanket.test(withoutThisTest(path)))).toEqual([]);
  });
});

const strictRules = [
  'countersign/explained-suppression',
  '@typescript-eslint/no-explicit-any',
  '@typescript-eslint/no-floating-promises',
  '@typescript-eslint/no-non-null-assertion',
  '@typescript-eslint/switch-exhaustiveness-check',
  '@typescript-eslint/consistent-type-imports',
  '@typescript-eslint/no-unnecessary-condition',
  'no-restricted-syntax',
];

/** This file spells the comment out in order to look for it. */
function withoutThisTest(path: string): string {
  return path === 'tests/architecture/shape.test.ts' ? '' : readText(path);
}

/** One linter for all of it: each has to read every type first. */
function probeLint(question: { paths: string[]; texts: string[] }): {
  rules: Record<string, Record<string, unknown[]>>;
  spoken: string[][];
} {
  const probe = join(root, 'tests/architecture/lint-probe.mjs');
  const printed = execFileSync(process.execPath, [probe], {
    cwd: root,
    input: JSON.stringify(question),
    encoding: 'utf8',
  });
  return JSON.parse(printed) as ReturnType<typeof probeLint>; // our own program's output
}
