import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const leftOut = new Set(['.git', '.countersign', '.stryker-tmp', 'node_modules', 'tests/mutation/node_modules']);

/**
 * Copies the working tree, so that an aborted run leaves no mutant in it. Links between workspace packages are relative
 * and point into the copy: the kernel's tests import the mutated crypto. Installed packages are shared. Returns the
 * path of the copy.
 */
export function copyTree({ root, tree }) {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree, { recursive: true });
  for (const entry of readdirSync(root).filter((name) => !leftOut.has(name))) {
    cpSync(join(root, entry), join(tree, entry), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !leftOut.has(relative(root, path).split(sep).join('/')),
    });
  }
  symlinkSync(relative(tree, join(root, 'node_modules')), join(tree, 'node_modules'));
  return tree;
}
