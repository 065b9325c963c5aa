// Finds the tests that depend on a changed file, through any number of imports. A file is changed if it differs from
// the last commit.
import { execFileSync } from 'node:child_process';
import { importsOf, root, sourceFiles, testFiles } from './imports.mjs';

/** @returns {Set<string>} */
export function changedTests() {
  const reached = importersOf(changedFiles());
  return new Set(testFiles().filter((file) => reached.has(file)));
}

function changedFiles() {
  const git = (...args) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean);
  return [...git('diff', '--name-only', 'HEAD'), ...git('ls-files', '--others', '--exclude-standard')];
}

function importersOf(files) {
  const importers = new Map();
  for (const file of sourceFiles())
    for (const { to } of importsOf(file)) if (to !== null) importers.set(to, [...(importers.get(to) ?? []), file]);
  const reached = new Set(files);
  for (const file of reached) for (const importer of importers.get(file) ?? []) reached.add(importer);
  return reached;
}
