import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ratioDefinitions } from '../bench/src/ratios.ts';
import { goalText } from '../bench/src/report.ts';
import { promises } from '../promises.ts';
import { listFiles, readText, root } from './repository.ts';

const documents = ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', 'STYLE.md', ...listFiles('docs', '.md')];

function targetsOf(path: string): string[] {
  const links = [...readText(path).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map((match) => match[1] ?? '');
  return links.map((link) => normalize(join(dirname(path), link)));
}

function makeTargets(): string[] {
  return [...readText('Makefile').matchAll(/^([a-z-]+):.*## /gm)].map((match) => match[1] ?? '');
}

describe('documents', () => {
  it.each(documents)('%s has no broken link', (path) => {
    expect(targetsOf(path).filter((target) => !existsSync(join(root, target)))).toEqual([]);
  });

  it.each(documents)('%s names only make targets that exist', (path) => {
    const named = [...readText(path).matchAll(/(?:^|`|; )make ([a-z-]+)/gm)].map((match) => match[1] ?? '');
    expect(named.filter((target) => !makeTargets().includes(target))).toEqual([]);
  });

  it('the decision cycle names only promises that exist', () => {
    const existing = promises.map(({ id }) => id);
    const named = [...readText('docs/decision-cycle.md').matchAll(/\b(?:kn|gw|sys)(?:\.[a-z]+)+\b/g)].map(String);
    expect(named.filter((id) => !existing.some((promise) => promise === id))).toEqual([]);
    expect(named.length).toBeGreaterThan(5);
  });

  it('the bench page explains every ratio, in the order of the report, with its goal', () => {
    const rows = readText('docs/reference/bench.md').matchAll(/^\| `([a-z0-9_]+)` \|.*\| ([^|]+) \|$/gm);
    const explained = [...rows].map(([, name, goal]) => [name, goal]);
    expect(explained).toEqual(ratioDefinitions.map(({ name, goal }) => [name, goalText(goal)]));
  });

  it('the folders in the table of the architecture exist', () => {
    const drawn = [...readText('docs/architecture.md').matchAll(/^\| `([^`]+)`\s*\|/gm)].map((match) => match[1] ?? '');
    expect(drawn.filter((folder) => !existsSync(join(root, folder)))).toEqual([]);
    expect(drawn.length).toBeGreaterThan(10);
  });
});
