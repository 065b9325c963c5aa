import { describe, expect, it } from '@jest/globals';
import { graphOf } from './import-graph.ts';
import { listFiles, listSources, readText, units } from './repository.ts';
import { everyExportHasAUser } from './rules/exports.ts';

const roots = ['contracts', 'packages', 'services', 'infra', 'tests'];
const written = roots.flatMap((folder) => [...listSources(folder), ...listFiles(folder, '.mjs')]);
const graph = graphOf(Object.fromEntries(written.map((path) => [path, readText(path)])));

describe('exports', () => {
  it('what is exported is imported elsewhere', () => {
    const entries = new Set(units().flatMap(publicEntries));
    const documented = new Map(units().map((unit) => [unit, readText(`${unit}/README.md`)]));
    expect(everyExportHasAUser(graph, { entries, documented })).toEqual([]);
  });

  it.each([
    ['an export that nobody imports', { 'packages/a/src/b.ts': 'export const b = 1;' }],
    [
      'an entry that only its own package imports',
      { 'packages/a/src/index.ts': 'export const b = 1;', 'packages/a/src/c.ts': `import { b } from './index.ts';` },
    ],
    [
      'a type that its file alone uses',
      {
        'packages/a/src/b.ts': 'export type B = 1; export const c: B = 1;',
        'packages/a/src/d.ts': `import { c } from './b.ts';`,
      },
    ],
    [
      'a member of a namespace that nobody names',
      {
        'packages/a/src/b.ts': 'export const b = 1; export const c = 2;',
        'packages/a/src/d.ts': `import * as all from './b.ts'; all.b;`,
      },
    ],
  ])('%s is noticed', (_, sources) => {
    expect(unusedOf(sources)).toHaveLength(1);
  });

  it('an export that another package, a test, a README or somebody who takes all uses is left alone', () => {
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

/** The sources behind the entries that other packages may import. */
function publicEntries(unit: string): string[] {
  const { exports = {} } = JSON.parse(readText(`${unit}/package.json`)) as { exports?: Record<string, unknown> }; // our own file
  return Object.values(exports).flatMap((entry) => {
    const source: unknown = typeof entry === 'object' && entry !== null ? Reflect.get(entry, 'countersign') : undefined;
    return typeof source === 'string' ? [`${unit}/${source.slice(2)}`] : [];
  });
}
