import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

/** Only root may install, and only where there is apt-get. */
export function mayInstall() {
  return process.getuid?.() === 0 && existsSync('/usr/bin/apt-get');
}

/** Brings the lists up to date and installs the first of these packages that there is; its name, or undefined for none. */
export function installFirst(names) {
  if (!updateLists()) return undefined;
  return names.find((name) => runApt(['install', '-y', '-q', '--no-install-recommends', name]));
}

export function updateLists() {
  return runApt(['update', '-q']);
}

function runApt(args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  // Another run of the tests may be installing at the same time.
  const waiting = ['-o', 'DPkg::Lock::Timeout=600'];
  return spawnSync('apt-get', [...waiting, ...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}
