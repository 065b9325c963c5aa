import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listFiles, readText, root, units } from './repository.ts';

/** Over 200 lines a file gets a second look, over 400 it does not merge. */
const fileLinesMax = 400;
/** Names that say nothing of what a file holds. */
const emptyNames = new Set(['utils', 'util', 'helpers', 'helper', 'common', 'misc', 'types', 'manager', 'impl']);

const written = ['contracts', 'packages', 'services', 'infra', 'tests'].flatMap((folder) => listFiles(folder, '.ts'));

describe('shape of the tree', () => {
  it('no file is longer than 400 lines', () => {
    expect(written.filter((path) => readText(path).split('\n').length - 1 > fileLinesMax)).toEqual([]);
  });

  it('files are named in kebab-case after what they hold', () => {
    const names = written.map((path) => ({
      path,
      name: path.slice(path.lastIndexOf('/') + 1).replace(/(\.test)?\.ts$/, ''),
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

describe('lint', () => {
  it.each(['packages/crypto/src/index.ts', 'services/gateway/src/index.ts', 'infra/local/src/index.ts'])(
    'holds %s to the size rules and the rules without exemption',
    (path) => {
      const rules = lintRulesOf(path);
      expect(rules['max-lines']).toEqual([2, expect.objectContaining({ max: 400, skipBlankLines: false })]);
      expect(rules['max-lines-per-function']).toEqual([2, expect.objectContaining({ max: 60, skipBlankLines: false })]);
      for (const rule of strictRules) expect([rule, rules[rule]?.[0]]).toEqual([rule, 2]);
    },
  );

  it('refuses a suppression without a reason', () => {
    expect(lintMessages('// eslint-disable-next-line no-var\nvar a = 1;\n')).toContain(
      'countersign/explained-suppression',
    );
    expect(lintMessages('// eslint-disable-next-line no-var -- an attack needs it here\nexport var a = 1;\n')).toEqual(
      [],
    );
  });

  it('refuses a constant in capitals', () => {
    const inCapitals = 'export const SIZE_MAX = 1;\nexport const SIZE = 1;\n';
    expect(lintMessages(inCapitals)).toEqual([
      '@typescript-eslint/naming-convention',
      '@typescript-eslint/naming-convention',
    ]);
    expect(lintMessages('export const sizeMax = 1;\nexport const TaskId = sizeMax;\n')).toEqual([]);
  });

  it('refuses to export whatever another file exports', () => {
    expect(lintMessages("export * from './other.ts';\n")).toContain('no-restricted-syntax');
    expect(lintMessages("export { a } from './other.ts';\n")).toEqual([]);
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

const eslint = join(root, 'node_modules/eslint/bin/eslint.js');

function lintRulesOf(path: string): Record<string, unknown[]> {
  const printed = execFileSync(process.execPath, [eslint, '--print-config', path], { cwd: root, encoding: 'utf8' });
  return (JSON.parse(printed) as { rules: Record<string, unknown[]> }).rules; // the tool's own output
}

/**
 * Lints a text in the place of a real source file, and returns the names of the rules that spoke. In a single run the parser takes
 * the file from the disk instead of the text.
 */
function lintMessages(text: string): string[] {
  const args = [eslint, '--stdin', '--stdin-filename', 'contracts/src/route.ts', '--format', 'json'];
  try {
    const env = { ...process.env, TSESTREE_SINGLE_RUN: 'false' };
    execFileSync(process.execPath, args, { cwd: root, input: text, encoding: 'utf8', env });
    return [];
  } catch (error) {
    const { stdout } = error as { stdout: string }; // execFileSync throws with the output it read
    const [result] = JSON.parse(stdout) as { messages: { ruleId: string }[] }[];
    return (result?.messages ?? []).map(({ ruleId }) => ruleId);
  }
}
