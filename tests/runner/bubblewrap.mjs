import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mayInstall, updateLists } from './apt-get.mjs';

const installed = ['/usr/bin/bwrap', '/usr/local/bin/bwrap'];

/** The path of an unpacked bubblewrap that every account may run, even an account that cannot read the checkout. */
const ownPlace = join(tmpdir(), 'countersign-bubblewrap', 'bwrap');

const howToGetOne =
  'bubblewrap is missing and could not be downloaded. Install the package bubblewrap, or set TEST_BWRAP_PATH to the program.';

/**
 * The bubblewrap for tests of sandboxes: the one in TEST_BWRAP_PATH, else an installed one, else one that is unpacked
 * here.
 */
export function findBubblewrap(env, log) {
  const found = env.TEST_BWRAP_PATH || [...installed, ownPlace].find((path) => existsSync(path));
  if (found) return found;
  if (!existsSync('/usr/bin/apt-get')) throw new Error(howToGetOne);
  log('Downloading bubblewrap with apt-get, 50 kB');
  const folder = mkdtempSync(join(tmpdir(), 'countersign-bwrap-'));
  try {
    const isThere = download(folder) || (mayInstall() && updateLists() && download(folder));
    const file = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (!isThere || file === undefined || !run('dpkg-deb', ['-x', file, '.'], folder)) throw new Error(howToGetOne);
    cpSync(join(folder, 'usr/bin/bwrap'), ownPlace);
    return ownPlace;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function download(folder) {
  return run('apt-get', ['download', '-q', '-o', 'APT::Sandbox::User=root', 'bubblewrap'], folder);
}

function run(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: 'ignore' }).status === 0;
}
