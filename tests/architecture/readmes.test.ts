import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readText, root, units } from './repository.ts';
import { explainsItself, type Tree } from './rules/readmes.ts';

const services = units().filter((unit) => unit.startsWith('services/'));

/** The folders that a newcomer opens: the top, every unit, and the folders inside larger units. */
const opened = [
  ...['docs', 'docs/adr', 'infra', 'packages', 'services', 'tests', 'contracts/src', 'packages/policy/src/gates'],
  ...units(),
  ...['contracts/src', 'tests', ...services.map((service) => `${service}/src`)].flatMap(rooms),
];

const repository: Tree = {
  textOf: (path) => (existsSync(join(root, path)) ? readText(path) : null),
  exists: (path) => existsSync(join(root, path)),
};

describe('folders that a newcomer opens', () => {
  it.each(opened)('%s has a correct README', (folder) => {
    expect(explainsItself(folder, repository)).toEqual([]);
  });

  it('include the folders inside services', () => {
    expect(opened).toContain('services/governance-kernel/src/decision');
    expect(opened).toContain('services/governance-kernel/src/controls/budgets');
    expect(opened).toContain('services/gateway/src/orchestrator');
  });
});

describe('the rule for READMEs', () => {
  const readme = '# b\n\nBegin with `c.ts`; `app.ts` lists all. See `/api/demo` and `packages/policy`.\n';
  const tree = (text: string): Tree => treeOf({ 'a/src/b/README.md': text, 'a/src/b/c.ts': '', 'a/src/app.ts': '' });

  it.each([
    ['a folder without a README', treeOf({ 'a/src/b/c.ts': '' })],
    ['a README that is too short', tree('# b\n')],
    ['a README that is too long', tree(`# b\n${'line\n'.repeat(15)}`)],
    ['a README that names a missing file', tree(readme.replace('c.ts', 'd.ts'))],
    ['a README that names a missing folder', tree(`${readme}All SQL is in \`store/\`.\n`)],
  ])('finds %s', (_, broken) => {
    expect(explainsItself('a/src/b', broken)).toHaveLength(1);
  });

  it('accepts a short and correct README', () => {
    expect(explainsItself('a/src/b', tree(readme))).toEqual([]);
  });
});

/** The folders inside a folder, and those inside them. The README of `routes/` explains its folders of families. */
function rooms(parent: string): string[] {
  return readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['generated', 'node_modules'].includes(entry.name))
    .map(({ name }) => `${parent}/${name}`)
    .flatMap((folder) => [
      folder,
      ...(folder.endsWith('/src/routes') || !folder.includes('/src/') ? [] : rooms(folder)),
    ]);
}

function treeOf(files: Record<string, string>): Tree {
  return { textOf: (path) => files[path] ?? null, exists: (path) => path in files };
}
