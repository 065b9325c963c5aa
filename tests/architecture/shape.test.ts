import { beforeAll, describe, expect, it } from '@jest/globals';
import { serviceNames } from '@countersign/services';
import { ESLint } from 'eslint';
import { listSources, readText, root, units, written } from './repository.ts';

/** A file over 200 lines gets a second look. A file over 400 lines does not merge. */
const fileLinesMax = 400;
/** Names that do not describe the content of a file. */
const emptyNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'types', 'manager', 'impl']);

const sources = written().flatMap(listSources);

describe('shape of the tree', () => {
  it('no file is longer than 400 lines', () => {
    expect(sources.filter((path) => readText(path).split('\n').length - 1 > fileLinesMax)).toEqual([]);
  });

  it('files have names in kebab-case that describe their content', () => {
    const names = sources.map((path) => ({
      path,
      name: path.slice(path.lastIndexOf('/') + 1).replace(/(\.(test|deploy|update|soak))?\.tsx?$/, ''),
    }));
    expect(names.filter(({ name }) => !/^_?[a-z0-9]+(-[a-z0-9]+)*$/.test(name)).map(({ path }) => path)).toEqual([]);
    expect(names.filter(({ name }) => emptyNames.has(name)).map(({ path }) => path)).toEqual([]);
  });

  it('each folder of a service has a row in the register, and each row has a folder', () => {
    const folders = units().filter((unit) => unit.startsWith('services/'));
    expect(folders).toEqual(serviceNames.map((name) => `services/${name}`).sort());
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
  'a wildcard export': ["export * from './other.ts';\n", expect.arrayContaining(['no-restricted-syntax'])],
} as const;
const timesInTests = [
  ['sleep', 'await delay(100);'],
  ['set a timer', 'globalThis.setTimeout(() => undefined, 100);'],
  ['set an interval', 'setInterval(() => undefined, 100);'],
  ['measure a time', 'export const at = performance.now();'],
  ['measure how long others wait', 'export const delays = monitorEventLoopDelay();'],
  ['expect a time', 'expect(Date.now() - at).toBe(1);'],
  ['compare a time', 'export const isLate = Date.now() > 100;'],
] as const;
const acceptedTexts = {
  'a suppression with a reason': '// eslint-disable-next-line no-var -- an attack needs it here\nexport var a = 1;\n',
  'a constant and a schema': 'export const sizeMax = 1;\nexport const TaskId = sizeMax;\n',
  'a named export': "export { a } from './other.ts';\n",
};

describe('lint', () => {
  const texts = [...Object.values(refusedTexts).map(([text]) => text), ...Object.values(acceptedTexts)];
  const rules = new Map<string, Record<string, unknown[]>>();
  const reports = new Map<string, (string | null)[]>();
  beforeAll(async () => {
    const eslint = new ESLint({ cwd: root });
    for (const path of linted) rules.set(path, await rulesFor(eslint, path));
    for (const text of texts) reports.set(text, await reportsOn(text));
  });

  it.each(linted)('applies the size rules and the strict rules to %s', (path) => {
    const ofPath = rules.get(path) ?? {};
    expect(ofPath['max-lines']).toEqual([2, expect.objectContaining({ max: 400, skipBlankLines: false })]);
    expect(ofPath['max-lines-per-function']).toEqual([2, expect.objectContaining({ max: 60, skipBlankLines: false })]);
    for (const rule of strictRules) expect([rule, ofPath[rule]?.[0]]).toEqual([rule, 2]);
  });

  it.each(Object.entries(refusedTexts))('rejects %s', (_what, [text, found]) => {
    expect(reports.get(text)).toEqual(found);
  });

  it.each(Object.entries(acceptedTexts))('accepts %s', (_what, text) => {
    expect(reports.get(text)).toEqual([]);
  });

  it.each(timesInTests)('lets no test %s without a reason', async (_what, statement) => {
    const explained = [`${statement} // a reason\n`, `// A reason.\n${statement}\n`];
    for (const filePath of ['contracts/tests/route.test.ts', 'services/gateway/tests/_gateway.ts']) {
      expect(await reportsOn(`${statement}\n`, filePath)).toEqual(['countersign/explained-time']);
      for (const text of explained) expect(await reportsOn(text, filePath)).toEqual([]);
    }
    expect(await reportsOn(`${statement}\n`, 'contracts/src/route.ts')).toEqual([]);
  });

  it('lets a test read the clock for a value', async () => {
    expect(await reportsOn('export const at = Date.now() - 60_000;\n', 'contracts/tests/route.test.ts')).toEqual([]);
  });

  it('is never switched off as a whole, since that would also hide missing reasons', () => {
    const blanket = /eslint-disable(?:-next-line|-line)?\s*(?:--|\*\/|$)|eslint-disable[^\n]*countersign\//m;
    expect(sources.filter((path) => blanket.test(withoutThisTest(path)))).toEqual([]);
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

/** The text of a file. Empty for this test, because it contains the searched comment as a pattern. */
function withoutThisTest(path: string): string {
  return path === 'tests/architecture/shape.test.ts' ? '' : readText(path);
}

async function rulesFor(eslint: ESLint, path: string): Promise<Record<string, unknown[]>> {
  const config = (await eslint.calculateConfigForFile(path)) as { rules: Record<string, unknown[]> }; // ESLint types it as any
  return config.rules;
}

/**
 * The rules whose rejections this test checks. None of them needs types, so the linter runs only these and reads no
 * other file.
 */
const seenRefusing = new Set([
  'countersign/explained-suppression',
  'countersign/explained-time',
  '@typescript-eslint/naming-convention',
  'no-restricted-syntax',
  'no-var',
]);
const withoutTypes = new ESLint({
  cwd: root,
  overrideConfig: { languageOptions: { parserOptions: { project: null } } },
  ruleFilter: ({ ruleId }) => seenRefusing.has(ruleId),
});

/** The names of the rules that reject this text as the content of a source file. */
async function reportsOn(text: string, filePath = 'contracts/src/route.ts'): Promise<(string | null)[]> {
  const [result] = await withoutTypes.lintText(text, { filePath });
  return (result?.messages ?? []).map(({ ruleId }) => ruleId);
}
