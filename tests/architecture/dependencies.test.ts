import { describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { graphOf, unitOf } from './import-graph.ts';
import { listFiles, listSources, readText, units } from './repository.ts';
import { everyDependencyIsUsed, type Manifest } from './rules/dependencies.ts';

const roots = ['contracts', 'packages', 'services', 'infra', 'tests'];
const written = roots.flatMap((folder) => [...listSources(folder), ...listFiles(folder, '.mjs')]);
const { files } = graphOf(Object.fromEntries(written.map((path) => [path, readText(path)])));

describe('dependencies', () => {
  it('what is declared as a dependency is used', () => {
    expect(
      everyDependencyIsUsed([rootManifest(), ...[...units(), 'tests'].map(manifestOf)], { text: tooling() }),
    ).toEqual([]);
  });

  it('a dependency that nothing uses is noticed', () => {
    const manifest = { path: 'packages/a', dependencies: ['zod', '@types/pg', 'yaml'], literals: ['zod', 'pg/lib/x'] };
    expect(everyDependencyIsUsed([manifest], { text: '' })).toEqual(['packages/a: nothing uses yaml']);
    expect(everyDependencyIsUsed([manifest], { text: 'node node_modules/yaml/bin.js' })).toEqual([]);
  });
});

type PackageJson = { dependencies?: Record<string, string>; devDependencies?: Record<string, string> };

function packageJson(unit: string): PackageJson {
  return JSON.parse(readText(`${unit}/package.json`)) as PackageJson; // our own file
}

function manifestOf(unit: string): Manifest {
  const { dependencies, devDependencies } = packageJson(unit);
  const own = files.filter(({ path }) => (unit === 'tests' ? path.startsWith('tests/') : unitOf(path) === unit));
  // The client that is generated from a schema imports Prisma's runtime.
  const generated = listFiles(`${unit}/prisma`, 'schema.prisma').flatMap(() => ['prisma', '@prisma/client']);
  const literals = [...own.flatMap(({ syntax }) => literalsOf(syntax)), ...generated];
  return { path: unit, dependencies: Object.keys({ ...dependencies, ...devDependencies }), literals };
}

/** The tools of all: whatever any code, configuration or command names. */
function rootManifest(): Manifest {
  const { devDependencies } = packageJson('.');
  const literals = [...files.flatMap(({ syntax }) => literalsOf(syntax)), ...quoted(tooling()), 'node'];
  return { path: 'package.json', dependencies: Object.keys(devDependencies ?? {}), literals };
}

function tooling(): string {
  const files = ['Makefile', 'eslint.config.mjs', 'jest.config.mjs', '.ci/run', 'tests/runner/run-tests.mjs'];
  return files.map(readText).join('\n');
}

function quoted(text: string): string[] {
  return [...text.matchAll(/'([^'\n]+)'/g)].map((match) => match[1] ?? '');
}

function literalsOf(syntax: ts.SourceFile): string[] {
  const literals: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node)) literals.push(node.text);
    ts.forEachChild(node, visit);
  };
  visit(syntax);
  return literals;
}
