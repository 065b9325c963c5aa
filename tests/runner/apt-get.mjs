import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Whether packages can be installed: only root may install, and only on systems with apt-get. */
export function mayInstall() {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/**
 * Updates the package lists and installs the first of these packages that exists. Returns its name, or `undefined` if
 * none exists.
 */
export function installFirst(names) {
  if (!updateLists()) return undefined;
  return names.find((name) => runApt(['install', '-y', '-q', '--no-install-recommends', name]));
}

export function updateLists() {
  return runApt(['update', '-q']);
}

function runApt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another test run may be installing at the same time.
  const waiting = ['-o', 'DPkg::Lock::Timeout=600'];
  return spawnSync('apt-get', [...waiting, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
