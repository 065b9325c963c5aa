import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readText, root, units } from './repository.ts';
import { explainsItself, type Tree } from './rules/readmes.ts';

const services = units().filter((unit) => unit.startsWith('services/'));

/** The folders that a newcomer opens: the top, every unit, and the rooms of those that have rooms. */
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
  it.each(opened)('%s explains itself', (folder) => {
    expect(explainsItself(folder, repository)).toEqual([]);
  });

  it('are all rooms of every service', () => {
    expect(opened).toContain('services/governance-kernel/src/boundary');
    expect(opened).toContain('services/gateway/src/orchestrator');
  });
});

describe('the rule about them', () => {
  const readme = '# b\n\nBegin with `c.ts`; `app.ts` lists all. See `/api/demo` and `packages/policy`.\n';
  const tree = (text: string): Tree => treeOf({ 'a/src/b/README.md': text, 'a/src/b/c.ts': '', 'a/src/app.ts': '' });

  it.each([
    ['a folder without a README', treeOf({ 'a/src/b/c.ts': '' })],
    ['one that says nothing', tree('# b\n')],
    ['one that says too much', tree(`# b\n${'line\n'.repeat(15)}`)],
    ['one that names a file which is gone', tree(readme.replace('c.ts', 'd.ts'))],
    ['one that names a folder which is gone', tree(`${readme}All SQL is in \`store/\`.\n`)],
  ])('notices %s', (_, broken) => {
    expect(explainsItself('a/src/b', broken)).toHaveLength(1);
  });

  it('leaves a short and true one alone', () => {
    expect(explainsItself('a/src/b', tree(readme))).toEqual([]);
  });
});

function rooms(parent: string): string[] {
  return readdirSync(join(root, parent), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !['generated', 'node_modules'].includes(entry.name))
    .map(({ name }) => `${parent}/${name}`);
}

function treeOf(files: Record<string, string>): Tree {
  return { textOf: (path) => files[path] ?? null, exists: (path) => path in files };
}
