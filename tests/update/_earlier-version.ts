import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../architecture/repository.ts';

export type EarlierVersion = { commit: string; checkout: string; remove(): void };

/** Checks out UPDATE_TEST_FROM, or the last tag, into a folder of `scratch`, and builds it. */
export function buildEarlierVersion(scratch: string): EarlierVersion {
  const commit = git('rev-parse', '--verify', `${process.env['UPDATE_TEST_FROM'] || lastTag()}^{commit}`);
  const checkout = join(scratch, 'earlier');
  git('worktree', 'add', '--detach', checkout, commit);
  const remove = () => void git('worktree', 'remove', '--force', checkout);
  try {
    execFileSync('make', ['build'], { cwd: checkout, stdio: ['ignore', 'ignore', 'inherit'] });
  } catch (error) {
    remove();
    throw error;
  }
  return { commit, checkout: `${checkout}/`, remove };
}

function lastTag(): string {
  try {
    return git('describe', '--tags', '--abbrev=0');
  } catch {
    throw new Error('There is no tag yet: name the earlier version, as in `make update-test from=<commit>`');
  }
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();
}
