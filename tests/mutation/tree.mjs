import { cpSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join, relative, sep } from 'node:path';

const leftOut = new Set(['.git', '.countersign', '.stryker-tmp', 'node_modules', 'tests/mutation/node_modules']);

/**
 * Copies the working tree, so that a broken-off run leaves no mutant in it. The links between workspace packages are
 * relative, so in the copy they lead to the copy: the kernel's tests import the mutated crypto. Installed packages are
 * shared. Returns where the copy is.
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
