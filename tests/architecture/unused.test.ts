import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { graphOf, nodesOf, unitOf } from './import-graph.ts';
import { listFiles, readText, readWholeGraph, units } from './repository.ts';
import { everyDependencyIsUsed, type Manifest } from './rules/dependencies.ts';
import { everyExportHasAUser } from './rules/exports.ts';

const graph = readWholeGraph();
const literals = new Map(graph.files.map(({ path, syntax }) => [path, literalsOf(syntax)]));

describe('dependencies', () => {
  it('each declared dependency is used', () => {
    expect(
      everyDependencyIsUsed([rootManifest(), ...[...units(), 'tests'].map(manifestOf)], { text: tooling() }),
    ).toEqual([]);
  });

  it('the rule finds a dependency that nothing uses', () => {
    const manifest = { path: 'packages/a', dependencies: ['zod', '@types/pg', 'yaml'], literals: ['zod', 'pg/lib/x'] };
    expect(everyDependencyIsUsed([manifest], { text: '' })).toEqual(['packages/a: nothing uses yaml']);
    expect(everyDependencyIsUsed([manifest], { text: 'node node_modules/yaml/bin.js' })).toEqual([]);
  });
});

describe('exports', () => {
  it('each export is imported elsewhere', () => {
    const entries = new Set(units().flatMap(publicEntries));
    const documented = new Map(units().map((unit) => [unit, readText(`${unit}/README.md`)]));
    expect(everyExportHasAUser(graph, { entries, documented })).toEqual([]);
  });

  it.each([
    ['an unused export', { 'packages/a/src/b.ts': 'export const b = 1;' }],
    [
      'an entry that only its own package imports',
      { 'packages/a/src/index.ts': 'export const b = 1;', 'packages/a/src/c.ts': `import { b } from './index.ts';` },
    ],
    [
      'a type that only its own file uses',
      {
        'packages/a/src/b.ts': 'export type B = 1; export const c: B = 1;',
        'packages/a/src/d.ts': `import { c } from './b.ts';`,
      },
    ],
    [
      'an unnamed member of a namespace',
      {
        'packages/a/src/b.ts': 'export const b = 1; export const c = 2;',
        'packages/a/src/d.ts': `import * as all from './b.ts'; all.b;`,
      },
    ],
  ])('finds %s', (_, sources) => {
    expect(unusedOf(sources)).toHaveLength(1);
  });

  it('an export used by another package, a test, a README or a wildcard import is accepted', () => {
    const index = { 'packages/a/src/index.ts': 'export const b = 1;' };
    expect(unusedOf({ ...index, 'packages/c/src/d.ts': `import { b } from '@countersign/a';` })).toEqual([]);
    expect(unusedOf({ ...index, 'packages/a/tests/d.test.ts': `import { b } from '../src/index.ts';` })).toEqual([]);
    const whole = { 'packages/a/src/list.ts': `import * as all from './index.ts'; Object.keys(all);` };
    expect(unusedOf({ ...index, ...whole })).toEqual([]);
    expect(unusedOf(index, 'Answers: `b`, the one and only.')).toEqual([]);
  });
});

function unusedOf(sources: Record<string, string>, readme = ''): string[] {
  const entries = new Set(Object.keys(sources).filter((path) => path.endsWith('/index.ts')));
  return everyExportHasAUser(graphOf(sources), { entries, documented: new Map([['packages/a', readme]]) });
}

/** The sources of the entries that other packages may import. */
function publicEntries(unit: string): string[] {
  const { exports = {} } = JSON.parse(readText(`${unit}/package.json`)) as { exports?: Record<string, unknown> }; // our own file
  return Object.values(exports).flatMap((entry) => {
    const source: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'countersign') : undefined;
    return typeof source === 'string' ? [`${unit}/${source.slice(2)}`] : [];
  });
}

type PackageJson = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

function packageJson(unit: string): PackageJson {
  return JSON.parse(readText(`${unit}/package.json`)) as PackageJson; // our own file
}

function manifestOf(unit: string): Manifest {
  const { dependencies, devDependencies } = packageJson(unit);
  const isOwn = (path: string) => (unit === 'tests' ? path.startsWith('tests/') : unitOf(path) === unit);
  const own = [...literals].flatMap(([path, texts]) => (isOwn(path) ? texts : []));
  // The client that is generated from a schema imports Prisma's runtime.
  const generated = listFiles(`${unit}/prisma`, 'schema.prisma').flatMap(() => ['prisma', '@prisma/client']);
  const styled = listFiles(`${unit}/src`, '.css').flatMap((path) => quoted(readText(path)));
  return {
    path: unit,
    dependencies: Object.keys({ ...dependencies, ...devDependencies }),
    literals: [...own, ...generated, ...styled],
  };
}

/** The tools of the whole repository, which any code, configuration or command may name. */
function rootManifest(): Manifest {
  const { devDependencies } = packageJson('.');
  const named = [...[...literals.values()].flat(), ...quoted(tooling()), 'node'];
  return { path: 'package.json', dependencies: Object.keys(devDependencies ?? {}), literals: named };
}

function tooling(): string {
  const files = ['Makefile', 'eslint.config.mjs', 'jest.config.mjs', '.ci/run', 'tests/runner/run-tests.mjs'];
  return files.map(readText).join('\n');
}

function quoted(text: string): string[] {
  return [...text.matchAll(/'([^'\n]+)'/g)].map((match) => match[1] ?? '');
}

function literalsOf(syntax: ts.SourceFile): string[] {
  return nodesOf(syntax).flatMap((node) => (ts.isStringLiteralLike(node) ? [node.text] : []));
}
