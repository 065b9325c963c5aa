import { execFile } from 'node:child_process';
import { tmpdir } from 'node:os';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Closing } from './closing.ts';
import { ownBuild } from './processes.ts';

const execute = promisify(execFile);

/**
 * Checks a commit out beside this checkout, installs it and builds it, which takes a minute or two. Resolves to its
 * folder, which is removed at the end. Rejects for an unknown commit, and for one that does not build.
 */
export async function buildVersion(closing: Closing, commit: string): Promise<string> {
  const folder = join(await mkdtemp(join(tmpdir(), 'countersign-against-')), 'checkout');
  await execute('git', ['worktree', 'add', '--detach', folder, commit], { cwd: ownBuild });
  closing.add(async () => {
    await execute('git', ['worktree', 'remove', '--force', folder], { cwd: ownBuild });
  });
  process.stderr.write(`Building ${commit}\n`);
  await execute('make', ['build'], { cwd: folder, maxBuffer: 64 * 1_024 * 1_024 });
  return folder;
}
